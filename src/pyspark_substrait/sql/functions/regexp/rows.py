"""The functions with regular expressions in Spark SQL.

The pattern of a plan is one of ICU. It is translated to Java's syntax, which Spark uses, so it must be a constant.
Positions, occurrences and groups may be columns. Positions count code points from 1, and a search from a later position
still sees the text before: ``^`` matches at the start of the text only, look-behind looks back.

Cases that the specification leaves undefined: without the requested match, or with a group that took no part in it, a
substring is empty, as in Spark and DuckDB (the type has no null). An invalid position, occurrence or group raises an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import raised
from pyspark_substrait.sql.functions.regexp.folding import Case
from pyspark_substrait.sql.functions.regexp.java import WIDE, java
from pyspark_substrait.sql.functions.regexp.nodes import Pattern
from pyspark_substrait.sql.functions.regexp.parser import Flags, parsed
from pyspark_substrait.sql.functions.regexp.replacement import groups_in, java_replacement, translation
from pyspark_substrait.sql.functions.strings.string_expressions import fitted
from pyspark_substrait.sql.functions.table import Call, Operand, Row, row

__all__ = ["ROWS"]

_MOST = 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class Search:
    """A search: a call, its pattern and its start.

    Args:
        text: the input.
        pattern: the pattern to search for.
        position: where the search starts; None at the first character.
    """

    call: Call
    text: str
    pattern: Pattern
    position: Operand | None

    @property
    def start(self) -> str:
        """The number of characters before the position."""
        assert self.position is not None
        return _less_one(self.position)

    @property
    def whole(self) -> bool:
        return self.position is None or self.position.literal == 1

    def subject(self, front: str = "", *, named: bool = False) -> tuple[str, str]:
        """Return a text and a Java pattern as SQL, which have exactly the matches from the position on.

        Args:
            front: a prefix of the pattern; it has one group unless it is empty.
            named: whether the pattern's groups have names.
        """
        text = f"{front}(?:{java(self.pattern, before=1, named=named)})" if front else java(self.pattern, named=named)
        if self.whole:
            return self.text, string_literal(text)
        if not self.pattern.looks_back and not self.pattern.may_be_empty:
            # an empty match would also be found after the end
            return f"substring({self.text}, {_int(self.position)})", string_literal(text)
        self.refuse_previous("from a position other than 1")
        # a match must have that many characters before it
        return self.text, _joined("(?<=(?s:.{", self.start, f"}}){WIDE})(?:{text})")

    def refuse_previous(self, where: str) -> None:
        if self.pattern.has_previous:
            raise UnsupportedPlanError(
                rf"the regular expression has \G, which cannot be kept {where}", path="arguments[1]"
            )

    def refuse_stale(self, groups: Iterable[int]) -> None:
        """Refuse groups whose matches Java doesn't know for sure."""
        for number in self.pattern.stale & set(groups):
            raise UnsupportedPlanError(
                f"group {number} of the regular expression is in look-around or an atomic group with alternatives, and "
                "Java may keep the value of a failed attempt",
                path="arguments[1]",
            )

    def checked(self, text: str, *numbers: tuple[str, int]) -> str:
        """Return the text, or an error if an argument is below its minimum; null if one is null."""
        conditions = []
        columns = [self.text]
        for name, least in numbers:
            number = argument(self.call, name)
            if number is None:
                continue
            reason = f"{name} is less than {least}"
            if isinstance(number.literal, int):
                if number.literal < least:
                    return raised(self.call, reason)
            else:
                columns.append(number.sql)
                conditions.append(f"WHEN {number.sql} < {least}L THEN {raised(self.call, reason)}")
        if not conditions:
            return text
        nulls = " OR ".join(f"{column} IS NULL" for column in columns)
        return f"CASE WHEN {nulls} THEN NULL {' '.join(conditions)} ELSE {text} END"


def argument(call: Call, name: str) -> Operand | None:
    return call.operands[call.names.index(name)] if name in call.names else None


def _less_one(number: Operand) -> str:
    if isinstance(number.literal, int):
        return str(min(number.literal - 1, _MOST))
    return Atom(f"CAST(least({number.sql} - 1L, {_MOST}L) AS INT)")


def _int(number: Operand | None) -> str:
    """Return a number as an INT; values that are too large are equivalent."""
    assert number is not None
    if isinstance(number.literal, int):
        return str(min(number.literal, _MOST))
    return Atom(f"CAST(least({number.sql}, {_MOST}L) AS INT)")


def _joined(left: str, middle: str, right: str) -> str:
    """A Java pattern with a number in its middle, which may be an expression."""
    if middle.isdigit():
        return string_literal(f"{left}{middle}{right}")
    return Atom(f"concat({string_literal(left)}, {middle}, {string_literal(right)})")


def searching(name: str, body: Callable[[Search], str]) -> tuple[Row, ...]:
    """Return the rows of a function, by the values of its options; the first ones are the defaults."""

    def with_flags(flags: Flags) -> Callable[[Call], str]:
        def text(call: Call) -> str:
            pattern = call.operands[1]
            if pattern.is_null:
                return Atom(f"CAST(NULL AS {spark_type(call.output)})")
            if not isinstance(pattern.literal, str):
                raise UnsupportedPlanError(
                    "the regular expression is not a constant, so it cannot be translated from ICU's dialect to Java's",
                    path="arguments[1]",
                )
            with at("arguments", 1):
                found = parsed(pattern.literal, flags)
            return body(Search(call, call.sql(0), found, argument(call, "position")))

        return text

    return tuple(
        row(
            name,
            fitted(with_flags(Flags(case=case, lines=lines, all=all)))
            if name == "regexp_replace"
            else with_flags(Flags(case=case, lines=lines, all=all)),
            case_sensitivity=case.value,
            multiline="MULTILINE_ENABLED" if lines else "MULTILINE_DISABLED",
            dotall="DOTALL_ENABLED" if all else "DOTALL_DISABLED",
        )
        for case, lines, all in product(Case, (False, True), (False, True))
    )


# what is matched -----------------------------------------------------------------------------------------------------


def group(search: Search) -> str:
    """Return the number of the requested group, as an INT."""
    number = argument(search.call, "group")
    if number is None:
        return "0"
    search.refuse_stale([number.literal] if isinstance(number.literal, int) else search.pattern.stale)
    if isinstance(number.literal, int) and number.literal > search.pattern.groups:
        return Atom(f"CAST(raise_error('{search.call.function.name}: there is no group {number.literal}') AS INT)")
    return _int(number)


def match_substring(search: Search) -> str:
    text, pattern = search.subject()
    occurrence = argument(search.call, "occurrence")
    if occurrence is None or occurrence.literal == 1:
        found = Atom(f"regexp_extract({text}, {pattern}, {group(search)})")
    else:
        every = f"get(regexp_extract_all({text}, {pattern}, {group(search)}), {_less_one(occurrence)})"
        found = Atom(f"coalesce({every}, left({search.text}, 0))")
    return search.checked(found, ("position", 1), ("occurrence", 1), ("group", 0))


def match_substring_all(search: Search) -> str:
    text, pattern = search.subject()
    return search.checked(f"regexp_extract_all({text}, {pattern}, {group(search)})", ("position", 1), ("group", 0))


def count_substring(search: Search) -> str:
    text, pattern = search.subject()
    return search.checked(Atom(f"CAST(regexp_count({text}, {pattern}) AS BIGINT)"), ("position", 1))


# positions of matches ------------------------------------------------------------------------------------------------

#: a group with the text from the start of a match to the end
_REST = "(?=((?s:.*)))"


def strpos(search: Search) -> str:
    return search.checked(Atom(f"CAST({place(search)} AS BIGINT)"), ("position", 1), ("occurrence", 1))


def place(search: Search) -> str:
    """Return the position of the requested occurrence, 0 if there is none, as an INT."""
    text, pattern = search.subject(_REST)
    occurrence = argument(search.call, "occurrence")
    assert occurrence is not None
    length = f"char_length({search.text})"
    if occurrence.literal == 1:
        rest = f"regexp_extract({text}, {pattern}, 1)"
        return f"CASE WHEN NOT {text} RLIKE {pattern} THEN 0 ELSE {length} - char_length({rest}) + 1 END"
    rest = f"get(regexp_extract_all({text}, {pattern}, 1), {_less_one(occurrence)})"
    return Atom(f"coalesce({length} - char_length({rest}) + 1, 0 * {length})")


# replacements --------------------------------------------------------------------------------------------------------


def replace(search: Search) -> str:
    occurrence = argument(search.call, "occurrence")
    if search.call.operands[2].is_null:
        return Atom(f"CAST(NULL AS {spark_type(search.call.output)})")
    if occurrence is None or occurrence.literal == 0:
        found = replace_all(search)
    elif isinstance(occurrence.literal, int):
        found = replace_one(search, occurrence)
    else:
        found = f"if({occurrence.sql} = 0L, {replace_all(search)}, {replace_one(search, occurrence)})"
    return search.checked(found, ("position", 1), ("occurrence", 0))


def replace_all(search: Search) -> str:
    replacement, named = replacing(search)
    text, pattern = search.subject(named=named)
    found = Atom(f"regexp_replace({text}, {pattern}, {replacement})")
    # the search may have been in the text from the position on
    return found if text == search.text else Atom(f"concat(left({search.text}, {search.start}), {found})")


def replace_one(search: Search, occurrence: Operand) -> str:
    """Replace the first occurrence after some characters together with these, which are put back."""
    search.refuse_previous("where one occurrence is replaced")
    replacement, named = replacing(search, front="${before}")
    pattern = java(search.pattern, before=1, named=True) if named else f"({java(search.pattern, before=2)})"
    if occurrence.literal == 1:
        start = "0" if search.position is None else search.start
        behind = _joined("^(?<before>(?s:.{", start, f"}}.*?)){pattern}")
        return Atom(f"regexp_replace({search.text}, {behind}, {replacement})")
    found = f"({place(search)})"
    behind = _joined("^(?<before>(?s:.{", f"{found} - 1", f"}})){pattern}")
    return f"CASE WHEN {found} > 0 THEN regexp_replace({search.text}, {behind}, {replacement}) ELSE {search.text} END"


def replacing(search: Search, front: str = "") -> tuple[str, bool]:
    """Return the replacement as SQL, and whether it needs named groups.

    ``front`` is a prefix of it; then the pattern's groups are preceded by one for the prefix and one for the match.
    """
    replacement = search.call.operands[2]
    if isinstance(replacement.literal, str):
        search.refuse_stale(groups_in(replacement.literal))
        text = java_replacement(replacement.literal, search.pattern.groups, 2 if front else 0)
        return string_literal(front + text), False
    search.refuse_stale(search.pattern.stale)
    text = translation(replacement.sql)
    return (f"concat({string_literal(front)}, {text})" if front else text), True


# splitting -----------------------------------------------------------------------------------------------------------


def split(search: Search) -> str:
    """Return the pieces, one more than there are matches. Spark omits one before an empty match at the start."""
    found = Atom(f"split({search.text}, {string_literal(java(search.pattern))}, -1)")
    if not search.pattern.may_be_empty:
        return found
    empty_first = string_literal(f"^(?>{java(search.pattern)})^")
    return Atom(f"if({search.text} RLIKE {empty_first}, concat(array(''), {found}), {found})")


ROWS: tuple[Row, ...] = (
    *searching("regexp_match_substring", match_substring),
    *searching("regexp_match_substring_all", match_substring_all),
    *searching("regexp_strpos", strpos),
    *searching("regexp_count_substring", count_substring),
    *searching("regexp_replace", replace),
    *searching("regexp_string_split", split),
)
