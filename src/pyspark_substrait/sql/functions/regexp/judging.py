"""The patterns in function calls, and whether they may take very long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark_substrait.errors import SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.expressions import EnumArgument, Expression, ScalarFunction, TypeArgument
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.walk import all_expressions
from pyspark_substrait.sql.functions.engines.rust_regexps import icu_pattern
from pyspark_substrait.sql.functions.regexp.backtracking import TOO_LARGE, slowness
from pyspark_substrait.sql.functions.regexp.folding import Case
from pyspark_substrait.sql.functions.regexp.nodes import AnyCharacter, Node, Pattern, Repeat, Sequence, Text
from pyspark_substrait.sql.functions.regexp.parser import Flags, parsed

__all__ = ["SlowPattern", "refuse_slow_patterns", "slow_in", "slow_patterns"]

_STANDARD = "extension:io.substrait:functions_string"
_SPARK = "extension:pyspark_substrait:functions_spark_string"
_COLLECTION = "extension:pyspark_substrait:functions_spark_collection"
_DATAFUSION = "extension:pyspark_substrait:functions_datafusion"

#: DataFusion's functions of Rust's regular expressions: the flags of each, and the position of further ones
_RUST: dict[str, tuple[str, int]] = {
    "regex_match": ("", 2),
    "regex_not_match": ("", 2),
    "regex_imatch": ("i", 2),
    "regex_not_imatch": ("i", 2),
    "regexp_like": ("", 2),
    "regexp_count": ("", 3),
    "regexp_instr": ("", 4),
    "regexp_match": ("", 2),
    "regexp_replace": ("", 3),
}

#: the positions of regular expressions among the arguments, by extension and function
_EXPRESSIONS: dict[tuple[str, str], tuple[int, ...]] = {
    **{
        (_STANDARD, name): (1,)
        for name in (
            "regexp_match_substring",
            "regexp_match_substring_all",
            "regexp_strpos",
            "regexp_count_substring",
            "regexp_replace",
            "regexp_string_split",
        )
    },
    **{
        (_SPARK, name): (1,)
        for name in (
            "rlike",
            "split",
            "regexp_replace",
            "regexp_extract",
            "regexp_extract_all",
            "regexp_count",
            "regexp_instr",
            "regexp_substr",
        )
    },
    (_COLLECTION, "str_to_map"): (1, 2),
    **{(_DATAFUSION, name): (1,) for name in _RUST},
}
#: functions whose second argument is a pattern of LIKE, which becomes a regular expression in Spark, with the escape
#: character where no argument states one
_LIKES: dict[tuple[str, str], str] = {
    (_STANDARD, "like"): "",
    (_SPARK, "like"): "",
    (_SPARK, "ilike"): "",
    **{
        (_DATAFUSION, name): "\\"
        for name in ("like", "ilike", "like_match", "like_not_match", "like_imatch", "like_not_imatch")
    },
}

#: returns the value of an expression; None if it isn't known before it runs
Known = Callable[[Expression], "Literal | None"]


@dataclass(frozen=True, slots=True)
class SlowPattern:
    """A pattern that may take very long for some texts.

    Args:
        argument: its position among the arguments of the call, from 0.
        text: the pattern; None if it is computed.
        reason: the reason why it may take long.
        sure: whether that follows from the pattern itself, not from its unknown parts.
    """

    argument: int
    text: str | None
    reason: str
    sure: bool


def slow_patterns(call: ScalarFunction, known: Known) -> Iterator[SlowPattern]:
    """Yield the patterns in a call that may take very long, or that can't be analysed."""
    name = (call.function.urn, call.function.name)
    is_like = name in _LIKES
    for position in (1,) if is_like else _EXPRESSIONS.get(name, ()):
        if position >= len(call.arguments):
            continue
        argument = call.arguments[position]
        if isinstance(argument, EnumArgument | TypeArgument):
            continue
        value = known(argument)
        if value is None or not isinstance(value.value, str | None):
            if call.function.urn == _DATAFUSION and not is_like:
                continue  # refused, or its characters stand for themselves
            yield SlowPattern(position, None, "it is computed, so it is unknown before the plan runs", False)
        elif value.value is not None:
            found = _like(value.value, _escape(call, known)) if is_like else _expression(value.value, call, known)
            if found is not None:
                reason, sure = found
                yield SlowPattern(position, value.value, reason, sure)


def refuse_slow_patterns(call: ScalarFunction, known: Known) -> None:
    """Refuse a call with a pattern that may take very long.

    Raises:
        UnsupportedPlanError: there is one; the message names it and the reason.
    """
    for found in slow_patterns(call, known):
        shown = "the pattern" if found.text is None else f"the pattern {found.text!r}"
        raise UnsupportedPlanError(
            f"{shown} of {call.function.name} may take very long: {found.reason}",
            path=f"arguments[{found.argument}]",
            hint="Such patterns are refused in this run; trusted plans run without refuse_slow_patterns "
            "(--refuse-slow-patterns)",
        )


def slow_in(plan: Plan) -> tuple[str, ...]:
    """The patterns in a plan, as texts, that may take very long for some texts."""
    found: dict[str, None] = {}
    for node in all_expressions(*plan.trees, named_lambdas=True):
        if isinstance(node, ScalarFunction):
            slow = slow_patterns(node, lambda item: item if isinstance(item, Literal) else None)
            found.update((item.text, None) for item in slow if item.text is not None)
    return tuple(found)


def _expression(text: str, call: ScalarFunction, known: Known) -> tuple[str, bool] | None:
    try:
        pattern = _of_rust(text, call, known) if call.function.urn == _DATAFUSION else parsed(text, _flags(call))
        reason = slowness(pattern)
    except (SubstraitError, RecursionError):
        return "it cannot be analysed", False
    return None if reason is None else (reason, reason != TOO_LARGE)


def _of_rust(text: str, call: ScalarFunction, known: Known) -> Pattern:
    flags, position = _RUST[call.function.name]
    further = _text(call, position, known).replace("g", "")
    return parsed(icu_pattern(text, flags + further), Flags())


def _flags(call: ScalarFunction) -> Flags:
    stated = {option.name.lower(): option.preference[0] for option in call.options if option.preference}
    return Flags(
        case=next((case for case in Case if case.value == stated.get("case_sensitivity")), Case.EXACT),
        lines=stated.get("multiline") == "MULTILINE_ENABLED",
        all=stated.get("dotall") == "DOTALL_ENABLED",
    )


def _like(pattern: str, escape: str) -> tuple[str, bool] | None:
    parts: list[Node] = []
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            parts.append(Text(next(characters, escape), Case.EXACT))
        elif character == "%":
            parts.append(Repeat(AnyCharacter(all=True, unix=False), 0, None, ""))
        elif character == "_":
            parts.append(AnyCharacter(all=True, unix=False))
        else:
            parts.append(Text(character, Case.EXACT))
    reason = slowness(Pattern(Sequence(tuple(parts)), 0))
    return None if reason is None else (reason, reason != TOO_LARGE)


def _escape(call: ScalarFunction, known: Known) -> str:
    return _text(call, 2, known) or _LIKES[call.function.urn, call.function.name]


def _text(call: ScalarFunction, position: int, known: Known) -> str:
    """Return the text of an argument; empty if there is no such argument, or its value is unknown or null."""
    argument = call.arguments[position] if len(call.arguments) > position else None
    if argument is None or isinstance(argument, EnumArgument | TypeArgument):
        return ""
    value = known(argument)
    return value.value if value is not None and isinstance(value.value, str) else ""
