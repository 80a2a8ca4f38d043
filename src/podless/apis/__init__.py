"""What is Kubernetes and no machinery: a folder for each API group, a .fields file for each of its versions.

README.md tells the format of these files, and structs/structfiles.py reads them.
"""
