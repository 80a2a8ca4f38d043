"""What every layer speaks of: names, kinds, object metadata, selectors, field errors, the exception tree."""
