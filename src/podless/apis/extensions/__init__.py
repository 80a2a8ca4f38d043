"""The group extensions."""
