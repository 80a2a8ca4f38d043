"""Terms of every layer: names, kinds, object metadata, selectors, field errors, the exception tree."""
