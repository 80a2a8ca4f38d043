"""Which version this is; apart, so that whoever tells it imports nothing else."""

__version__ = "0.1.0"
