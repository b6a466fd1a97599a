"""Errors about calls that no known function takes, with advice."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.definitions import FunctionDefinition, Kind
from pyspark_substrait.extensions.matching import Phase
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.extensions.resolution import kinds_for

__all__ = ["missing_function_hint", "no_overload"]

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


def no_overload(
    name: str,
    place: str,
    known: Sequence[FunctionDefinition],
    call: str,
    kind: Kind | None,
    phase: Phase,
    *,
    strict: bool,
) -> InvalidPlanError:
    """Return the error about a call that no function of its name takes.

    Args:
        name: the name of the function, without the types of its arguments.
        place: the words for the extension it was looked for in; empty for any.
        known: the functions of that name.
        call: the call as text.
        kind, phase: how it is called.
        strict: whether only what the specification allows was accepted.
    """
    fitting = [definition for definition in known if definition.kind in kinds_for(kind)]
    if not fitting:
        kinds = " or ".join(sorted({definition.kind for definition in known}))
        return InvalidPlanError(
            f"`{name}`{place} is called as {kind} function, but it is of the kind {kinds}",
            code=Code.EXPRESSION_NO_OVERLOAD,
        )
    if phase != "INITIAL_TO_RESULT" and all(definition.decomposable == "NONE" for definition in fitting):
        return InvalidPlanError(
            f"`{name}`{place} cannot be computed in phases ({phase})",
            hint="Its only phase is INITIAL_TO_RESULT",
            code=Code.EXPRESSION_PHASE,
        )
    shown = "; ".join(definition.signature() for definition in fitting[:8])
    more = f" and {len(fitting) - 8} more" if len(fitting) > 8 else ""
    rule = "exactly as the specification asks (strict)" if strict else "these arguments"
    return InvalidPlanError(
        f"no implementation{place} takes {rule}: {call}",
        hint=f"There are: {shown}{more}",
        code=Code.EXPRESSION_NO_OVERLOAD,
    )
