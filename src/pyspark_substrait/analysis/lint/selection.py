"""The rules and classes that a run of lint includes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark_substrait.analysis.lint import RULES
from pyspark_substrait.codes import Code

__all__ = ["REWRITTEN", "SUBJECTS", "chosen"]

SUBJECTS = frozenset(
    {
        Code.DEPRECATION,
        Code.UPGRADED,
        Code.PROTO_UNSPECIFIED_ENUM,
        Code.LINK_SIMPLE_FUNCTION_NAME,
        Code.REDUNDANT_ANY_DECLARATION,
        Code.REDUNDANT_EXTENSION,
        Code.REDUNDANT_FUNCTION,
        Code.REDUNDANT_TYPE,
        Code.REDUNDANT_TYPE_VARIATION,
        Code.REDUNDANT_LIST_SLICE,
        Code.REDUNDANT_FIELD,
        Code.REDUNDANT_ENUM_VARIANT,
        Code.REDUNDANT_DETACHED,
    }
)
"""The classes of validation that are a matter of style as well."""

REWRITTEN = frozenset(
    {
        Code.UPGRADED,
        Code.LINK_SIMPLE_FUNCTION_NAME,
        Code.REDUNDANT_ANY_DECLARATION,
        Code.REDUNDANT_EXTENSION,
        Code.REDUNDANT_FUNCTION,
        Code.REDUNDANT_TYPE,
        Code.REDUNDANT_TYPE_VARIATION,
        Code.REDUNDANT_DETACHED,
    }
)
"""The classes of these that writing the plan from the model fixes."""


def chosen(select: Sequence[str | int], ignore: Sequence[str | int]) -> Callable[[Code], bool]:
    """Return a predicate for the classes of findings that are wanted.

    Args:
        select: classes, by number or by the name of the rule, like ``9001`` or ``double-negation``; all when empty.
        ignore: classes to leave out, in the same forms.

    Raises:
        ValueError: one of them is neither the number of a class that lint has nor the name of a rule.
    """
    wanted = {code for item in select for code in _codes(item)} if select else None
    unwanted = {code for item in ignore for code in _codes(item)}
    return lambda code: (wanted is None or code in wanted) and code not in unwanted


def _codes(item: str | int) -> set[Code]:
    text = str(item).strip()
    known = {rule.code for rule in RULES} | SUBJECTS
    if text.isascii() and text.isdigit():
        found = {code for code in known if code == int(text)}
    else:
        found = {rule.code for rule in RULES if rule.name == text}
    if not found:
        raise ValueError(f"{text!r} is neither the number of a class nor the name of a rule of lint")
    return found
