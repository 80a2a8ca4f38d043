"""Served kinds: the registry, CustomResourceDefinitions compiled to kinds, and the base of built-in kinds."""
