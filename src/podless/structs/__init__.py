"""Built-in types: structs, their defaults, and their protobuf form."""
