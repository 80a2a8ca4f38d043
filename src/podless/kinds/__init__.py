"""What a served kind is, the registry of live kinds, CRDs compiled to kinds, and the built-in kinds."""
