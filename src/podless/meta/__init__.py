"""apimachinery's meta: names, kinds, object metadata, selectors, field errors, and the exception tree."""
