"""podless: the Kubernetes API without the pods."""

__version__ = "0.1.0"
