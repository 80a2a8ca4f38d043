"""Classes and definitions: Python modules from CustomResourceDefinitions, and definitions from classes."""
