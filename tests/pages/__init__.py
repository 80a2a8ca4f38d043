"""The documentation: its generated pages, its shell sessions, its prose, and the picture in the README.

`python -m tests.pages write` writes what is generated; `run PAGE...` executes the sessions of pages; `lint` checks the
prose.
"""
