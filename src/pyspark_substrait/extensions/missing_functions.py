"""Advice for calls of functions that no known extension has."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence

from pyspark_substrait.extensions.producers import Producer

__all__ = ["missing_function_hint"]

_OWN = "Declare a function of your own with --functions FILE, or Registry.with_yaml(path) (docs/own-functions.md)"


def missing_function_hint(name: str, known: Collection[str], engines: Sequence[Producer]) -> str:
    """Return what to do about a function that no extension has.

    Args:
        name: its name, without the types of its arguments.
        known: the names of the known functions.
        engines: the producers whose plans may use a function of that name without an extension.
    """
    near = difflib.get_close_matches(name, sorted(known), n=3)
    parts = [f"Did you mean {' or '.join(f'`{one}`' for one in near)}?"] if near else []
    parts += [
        f"{engine.value} has such a function; a plan can call it if its version.producer is {engine.value.lower()} "
        "(docs/other-engines.md)."
        for engine in engines
    ]
    return " ".join([*parts, _OWN])
