"""podless crd: print a CustomResourceDefinition for Python classes."""

from __future__ import annotations

import argparse
import importlib
import sys

from podless.codec import serializer
from podless.hooks.worker import find_place
from podless.runtime.option import report_errors


def run(args: argparse.Namespace) -> int:
    """Print the definition. Returns 2 if a class cannot be found or has no CRD form."""
    from podless.models import Inexpressible, crd

    if "" not in sys.path:
        sys.path.insert(0, "")
    with report_errors(Inexpressible, LookupError):
        definition = crd(*map(_find_class, args.classes))
    sys.stdout.write(serializer.encode_yaml(definition).decode())
    return 0


def _find_class(text: str) -> type:
    """Import the class of MODULE:CLASS. Raises LookupError."""
    module, colon, name = text.partition(":")
    if not colon or not module or not name:
        raise LookupError(f"{text}: a class is MODULE:CLASS")
    try:
        result = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        raise LookupError(str(error)) from None
    except Exception as error:  # any error of the user's code
        position = find_place(error)
        prefix = f"{position['file']}:{position['line']}: " if position else ""
        raise LookupError(f"{text}: cannot import: {prefix}{type(error).__name__}: {error}") from None
    if not isinstance(result, type):
        raise LookupError(f"{text}: there is no such class")
    return result
