"""Regular expressions in Java's syntax, with the same meaning in every Java version from 17 on.

No flag of Java's is used: line endings, letters and case-insensitivity are written explicitly, because Java and ICU
disagree in all of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from typing_extensions import assert_never

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sql.functions.regexp.folding import Case, cased_points, folded, unfolded
from pyspark_substrait.sql.functions.regexp.nodes import (
    Anchor,
    AnyCharacter,
    Assertion,
    BackReference,
    Choice,
    Cluster,
    Group,
    Look,
    NewLine,
    Node,
    OneOf,
    Pattern,
    Repeat,
    Sequence,
    Text,
    walk,
)
from pyspark_substrait.sql.functions.regexp.properties import DIGITS, LINE_ENDS, SPACES, SPACES_IN_LINE
from pyspark_substrait.sql.functions.regexp.sets import (
    ANYTHING,
    CharacterSet,
    Difference,
    class_text,
    escaped,
    of,
    only_below,
)

__all__ = ["NOTHING", "WIDE", "java"]

#: a pattern that only matches the empty text
NOTHING = "(?:)"
#: Java's look-behind counts code points only if the pattern contains one beyond the first plane from there on
WIDE = "\U00010000{0}"

_LINE_END = class_text(LINE_ENDS)
#: not between CR and LF, which end a line together
_WHOLE_END = r"(?!(?<=\r)\n)"
#: combining marks and invisible characters, which word boundaries skip
_MARK = r"[\p{Mn}\p{Me}\p{Cf}]"
_WORD = r"[\p{IsAlphabetic}\p{Mc}\p{Nd}\p{Pc}&&[^\p{Mn}]]"
_AFTER_WORD = f"{_WORD}|{_MARK}(?<={_WORD}{_MARK}{{1,999}}{WIDE})"
_BOUNDARY = (
    rf"(?={_WORD})(?<!{_AFTER_WORD})"
    rf"|(?![\p{{IsAlphabetic}}\p{{M}}\p{{Nd}}\p{{Pc}}\p{{Cf}}])(?<={_AFTER_WORD})"
)
#: the longest run of letters that may match fewer characters when case is ignored (ss is ß, ffi is ﬃ)
_LONGEST_RUN = 12
_LONGEST_LOOP = 50
#: the maximum text of a repeated group in a look-behind
_LONGEST_WRITTEN = 20_000
#: more digits than the number of a group has
_MOST_DIGITS = 20


def java(pattern: Pattern, *, before: int = 0, named: bool = False) -> str:
    """The text of a pattern for Java.

    Args:
        before: the number of capturing groups before it.
        named: whether its groups have the names g1, g2 and so on, and the whole match is g0.
    """
    text = _Writer(pattern, before, named).text(pattern.root)
    if named:
        text = f"(?<g0>{text})"
    if pattern.may_be_empty:
        # Java also finds an empty match between the halves of a character
        text = rf"(?!\p{{Cs}})(?:{text})"
    return text


class _Writer:
    def __init__(self, pattern: Pattern, before: int, named: bool) -> None:
        self.pattern = pattern
        self.before = before + named
        self.named = named
        self.behind = False
        self._caseless: dict[int, bool] | None = None

    def text(self, node: Node) -> str:
        match node:
            case Text(characters=characters, case=case):
                return _literal(characters, case)
            case OneOf(set=set):
                return class_text(set)
            case AnyCharacter():
                return _dot(node)
            case Assertion(anchor=anchor, unix=unix):
                return _place(anchor, unix)
            case NewLine():
                return rf"(?>\r\n|{_LINE_END})"
            case Cluster():
                return r"\X"
            case Sequence(parts=parts):
                return self._sequence(parts)
            case Choice(branches=branches):
                return "|".join(map(self.text, branches))
            case Group(body=body, number=None, atomic=atomic):
                return f"(?{'>' if atomic else ':'}{self.text(body)})"
            case Group(body=body, number=number):
                return f"({f'?<g{number}>' if self.named else ''}{self.text(body)})"
            case Look(body=body, ahead=True, negative=negative):
                return f"(?{'!' if negative else '='}{self.text(body)})"
            case Look(body=body, negative=negative):
                return f"(?<{'!' if negative else '='}{self._behind(body)})"
            case Repeat():
                return self._repeat(node)
            case BackReference(number=number, case=case):
                return self._reference(number, case)
            case _:
                assert_never(node)

    def _behind(self, body: Node) -> str:
        """Return the body of a look-behind."""
        match body:
            # a position between CR and LF is after one of them
            case NewLine():
                return _LINE_END
            case AnyCharacter(all=True):
                return f"(?s:.){WIDE}"
            case _:
                pass
        if any(isinstance(node, NewLine) or (isinstance(node, AnyCharacter) and node.all) for node in walk(body)):
            raise UnsupportedPlanError(
                r"the regular expression cannot run on Spark: in Java, what takes CR LF as one (\R, and the dot that "
                "matches line terminators) cannot be beside anything else in a look-behind"
            )
        outside, self.behind = self.behind, True
        inner = self.text(body)
        self.behind = outside
        if _may_be_wide(body):
            inner = f"(?:{inner}){WIDE}" if isinstance(body, Choice) else f"{inner}{WIDE}"
        return inner

    def _sequence(self, parts: tuple[Node, ...]) -> str:
        text = ""
        for part in parts:
            after = self.text(part)
            # a digit would become part of the number
            text += f"{NOTHING}{after}" if text[-1:].isdigit() and _is_reference(text[-_MOST_DIGITS:], after) else after
        return text

    def _repeat(self, node: Repeat) -> str:
        counts = {(0, None): "*", (1, None): "+", (0, 1): "?", (node.least, node.least): f"{{{node.least}}}"}.get(
            (node.least, node.most), f"{{{node.least},{'' if node.most is None else node.most}}}"
        )
        body = node.body
        if isinstance(body, AnyCharacter) and body.all and node.most is None and node.least < 2:
            # as a loop over single characters: Java's stack overflows in long loops over anything else
            text = f"(?s:.)+{node.mode}{_WHOLE_END}"
            return text if node.least else f"(?:{text})?{node.mode}"
        text = self.text(body)
        if self.behind and node.most != 1 and (isinstance(body, Group) or "|" in text):
            return self._written_out(node, text)
        if _captures(body) and not any(
            isinstance(part, Text | OneOf | AnyCharacter | NewLine | Cluster) for part in walk(body)
        ):
            raise UnsupportedPlanError(
                "the regular expression cannot run on Spark: Java loses the value of a repeated group "
                "that matches only the empty string"
            )
        text = f"{text if _is_one(body, text) else f'(?:{text})'}{counts}"
        if node.mode == "+" and not isinstance(body, Text | OneOf):
            # Java's possessive loop never backtracks into one of its iterations, ICU's only at the end
            return f"(?>{text})"
        return f"{text}{node.mode}"

    def _written_out(self, node: Repeat, text: str) -> str:
        """Return a group, repeated explicitly: Java's look-behind doesn't know the length of loops over groups."""
        assert node.most is not None
        if node.most > _LONGEST_LOOP or _captures(node):
            raise UnsupportedPlanError(
                "the regular expression cannot run on Spark: Java's look-behind has no repeated capturing groups, and "
                f"none that are repeated more than {_LONGEST_LOOP} times"
            )
        if len(text) * node.most > _LONGEST_WRITTEN:
            raise UnsupportedPlanError(
                "the regular expression cannot run on Spark: repeated groups in its look-behind make it too long"
            )
        further = ""
        for _ in range(node.most - node.least):
            further = f"(?:{text}{further})?{'?' if node.mode == '?' else ''}"
        found = f"{text * node.least}{further}" or NOTHING
        return f"(?>{found})" if node.mode == "+" else f"(?:{found})"

    def _reference(self, number: int, case: Case) -> str:
        text = f"\\{number + self.before}"
        if case is Case.ASCII:
            return f"(?i:{text})"
        if case is Case.UNICODE and not self._groups_without_case().get(number, True):
            raise UnsupportedPlanError(
                "the regular expression cannot run on Spark: it refers back to a group that may contain letters "
                "while case is ignored, and Java compares these differently"
            )
        return text

    def _groups_without_case(self) -> dict[int, bool]:
        """Return whether each capturing group contains only parts without case variants."""
        if self._caseless is None:
            self._caseless = {
                group.number: all(map(_without_case, walk(group.body)))
                for group in walk(self.pattern.root)
                if isinstance(group, Group) and group.number is not None
            }
        return self._caseless


def _captures(node: Node) -> bool:
    return any(isinstance(part, Group) and part.number is not None for part in walk(node))


def _is_reference(text: str, after: str) -> bool:
    return after[:1].isdigit() and text.rstrip("0123456789").endswith("\\")


def _is_one(node: Node, text: str) -> bool:
    """Whether a quantifier after the text of a node applies to all of it."""
    match node:
        case OneOf() | AnyCharacter() | Cluster() | NewLine() | Group():
            return True
        case Text():
            return len(text) == 1 or text.startswith("(?:") or (text[0] == "\\" and len(text) == 2) or text[0] == "["
        case _:
            return False


def _dot(node: AnyCharacter) -> str:
    if node.all:
        return r"(?>\r\n|(?s:.))"
    return r"[^\n]" if node.unix else class_text(Difference(ANYTHING, LINE_ENDS))


def _place(anchor: Anchor, unix: bool) -> str:
    line_end = r"\n" if unix else _LINE_END
    match anchor:
        case Anchor.START:
            return "^"
        case Anchor.LINE_START:
            return rf"(?:^|(?<={line_end})(?!\z){'' if unix else _WHOLE_END})"
        case Anchor.END:
            return r"(?=\n?\z)" if unix else rf"(?={_LINE_END}?\z|\r\n\z){_WHOLE_END}"
        case Anchor.LINE_END:
            return r"(?=\n|\z)" if unix else rf"(?={_LINE_END}|\z){_WHOLE_END}"
        case Anchor.VERY_END:
            return r"\z"
        case Anchor.PREVIOUS:
            return r"\G"
        case Anchor.WORD:
            return f"(?:{_BOUNDARY})"
        case Anchor.NO_WORD:
            return f"(?!{_BOUNDARY})"
        case _:
            assert_never(anchor)


def _may_be_wide(node: Node) -> bool:
    """Whether a node may match characters beyond the first plane."""
    for inner in walk(node):
        match inner:
            case Text(characters=characters):
                if max(characters) > "\uffff" or inner.case is Case.UNICODE:
                    return True
            case OneOf(set=set):
                if not only_below(set, 0x10000):
                    return True
            case AnyCharacter() | Cluster() | BackReference():
                return True
            case _:
                pass
    return False


# case ----------------------------------------------------------------------------------------------------------------


def _literal(characters: str, case: Case) -> str:
    """A text, each of its letters as the set of its case variants."""
    if case is Case.EXACT:
        return "".join(escaped(ord(character)) for character in characters)
    text = folded(characters, case)
    found, start = "", 0
    while start < len(text):
        end = _run_end(text, start, case)
        if end - start > _LONGEST_RUN:
            raise UnsupportedPlanError(
                f"the regular expression cannot run on Spark: too many characters are equal to parts of {text!r} "
                "while case is ignored"
            )
        found += _run(text, start, end, case)
        start = end
    return found


def _run_end(text: str, start: int, case: Case) -> int:
    """Return the end of the run of letters of which single characters may match several."""
    end, position = start + 1, start
    while position < end:
        for length in (2, 3):
            if text[position : position + length] in unfolded(case) and position + length <= len(text):
                end = max(end, position + length)
        position += 1
    return end


def _run(text: str, start: int, end: int, case: Case) -> str:
    """The texts that fold to a part of a folded text."""
    if start == end:
        return ""
    ways = []
    for length in (1, 2, 3):
        if start + length > end:
            break
        part = text[start : start + length]
        found = unfolded(case).get(part, frozenset(part) if length == 1 else None)
        if found:
            first = class_text(of((ord(item), ord(item)) for item in found))
            ways.append(first + _run(text, start + length, end, case))
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


def _without_case(node: Node) -> bool:
    """Whether the node itself, without its children, has no case variants."""
    match node:
        case Text(characters=characters):
            return not _has_cased(of((ord(character), ord(character)) for character in characters))
        case OneOf(set=set):
            return set in _CASELESS or (only_below(set, 0x10FFFF) and not _has_cased(set))
        case AnyCharacter() | Cluster() | BackReference():
            return False
        case _:
            return True


_CASELESS: tuple[CharacterSet, ...] = (DIGITS, SPACES, SPACES_IN_LINE)


def _has_cased(set: CharacterSet) -> bool:
    points = cased_points()
    ranges: tuple[tuple[int, int], ...] = getattr(set, "ranges", ((0x41, 0x41),))
    return any(bisect_left(points, low) < bisect_right(points, high) for low, high in ranges)
