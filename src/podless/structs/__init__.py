"""The machinery of built-in types: structs, their defaults, and their form in protobuf."""
