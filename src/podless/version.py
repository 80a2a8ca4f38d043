"""The version of podless. This module imports nothing."""

__version__ = "0.1.0"
