"""The verbs of the API, one a file. A write is a list of stages."""
