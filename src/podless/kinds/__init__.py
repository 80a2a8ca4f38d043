"""Served kinds: the registry, kinds compiled from CustomResourceDefinitions, and the base of built-in kinds."""
