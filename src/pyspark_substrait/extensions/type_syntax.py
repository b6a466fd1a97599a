"""The type expression language of the extension files, as a tree.

Spec: types/type_parsing; expressions/scalar_functions, "Return Type Expressions"; grammar/SubstraitType.g4. The
    language is case-insensitive, so names are folded to lower case, except those of user-defined types and of struct
    fields. The parser is written by hand because the generated one takes 40 ms to import and 1 to 20 ms per expression;
    a test compares the two on every expression of the official files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError

__all__ = [
    "AnyPattern",
    "Binary",
    "Call",
    "Conditional",
    "FuncPattern",
    "Node",
    "Not",
    "Number",
    "Program",
    "TypePattern",
    "UserPattern",
    "Variable",
    "parse",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Number:
    """An integer literal."""

    value: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter: ``P``, ``any1``, ``T``, or a name that a program assigned. Its position determines its kind."""

    name: str
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class AnyPattern:
    """``any``: every type, independently of all others."""

    nullable: bool = False


@dataclass(frozen=True, slots=True)
class TypePattern:
    """A built-in type. ``nstruct`` is a ``struct`` whose fields have ``names``."""

    keyword: str
    nullable: bool = False
    parameters: tuple[Node, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FuncPattern:
    """A function type, ``func<(T1, T2) -> R>``."""

    parameters: tuple[Node, ...]
    result: Node
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class UserPattern:
    """A user-defined type, ``u!name`` or ``alias.u!name``."""

    alias: str | None
    name: str
    nullable: bool = False
    parameters: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the language's own functions, such as ``max(S1, S2)``."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands and one of ``* / + - < > <= >= = != and or``."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a boolean."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Conditional:
    """``if c then a else b``, or ``c ? a : b``."""

    condition: Node
    then: Node
    otherwise: Node


@dataclass(frozen=True, slots=True)
class Program:
    """Assignments, one per line, and the expression that is the result."""

    assignments: tuple[tuple[str, Node], ...]
    result: Node


Node: TypeAlias = (
    Number
    | Variable
    | AnyPattern
    | TypePattern
    | FuncPattern
    | UserPattern
    | Call
    | Binary
    | Not
    | Conditional
    | Program
)

#: the number of parameters of each built-in type; None: one or more
_ARITY: Final[dict[str, int | None]] = {
    "boolean": 0,
    "i8": 0,
    "i16": 0,
    "i32": 0,
    "i64": 0,
    "fp32": 0,
    "fp64": 0,
    "string": 0,
    "binary": 0,
    "date": 0,
    "interval_year": 0,
    "uuid": 0,
    "fixedchar": 1,
    "varchar": 1,
    "fixedbinary": 1,
    "decimal": 2,
    "interval_day": 1,
    "interval_compound": 1,
    "precision_time": 1,
    "precision_timestamp": 1,
    "precision_timestamp_tz": 1,
    "struct": None,
    "nstruct": None,
    "list": 1,
    "map": 2,
}

#: words that would parse as a parameter name although the author surely meant a type
_MISTAKEN: Final[dict[str, str]] = {
    "bool": "boolean",
    "str": "string",
    "vbin": "binary",
    "iyear": "interval_year",
    "iday": "interval_day<P>",
    "icompound": "interval_compound<P>",
    "dec": "decimal<P,S>",
    "pt": "precision_time<P>",
    "pts": "precision_timestamp<P>",
    "ptstz": "precision_timestamp_tz<P>",
    "fchar": "fixedchar<L>",
    "vchar": "varchar<L>",
    "fbin": "fixedbinary<L>",
    "time": "precision_time<6>",
    "timestamp": "precision_timestamp<6>",
    "timestamp_tz": "precision_timestamp_tz<6>",
}

_TOKEN: Final = re.compile(
    r"""
      (?P<skip>   [ \t\r]+ | //[^\r\n]* | /\*.*?\*/ )
    | (?P<newline>\n)
    | (?P<user>   [uU]!)
    | (?P<name>   [A-Za-z_$][A-Za-z0-9_$]*)
    | (?P<number> [0-9]+)
    | (?P<quoted> "(?:[^"\\]|\\.)*")
    | (?P<symbol> ->|<=|>=|!=|==|&&|\|\||[-+*/<>=!(),:?.])
    """,
    re.VERBOSE | re.DOTALL,
)
_SPELLINGS: Final = {"&&": "and", "||": "or", "==": "="}
_ANY: Final = re.compile(r"any[0-9]?\Z")


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all nodes below it."""
    yield node
    for child in _children(node):
        yield from walk(child)


def _children(node: Node) -> tuple[Node, ...]:
    children: tuple[Node, ...]
    match node:
        case Number() | Variable() | AnyPattern():
            children = ()
        case TypePattern(parameters=parameters) | UserPattern(parameters=parameters):
            children = parameters
        case FuncPattern(parameters=parameters, result=result):
            children = (*parameters, result)
        case Call(arguments=arguments):
            children = arguments
        case Binary(left=left, right=right):
            children = (left, right)
        case Not(operand=operand):
            children = (operand,)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            children = (condition, then, otherwise)
        case Program(assignments=assignments, result=result):
            children = (*(value for _, value in assignments), result)
        case _:
            assert_never(node)
    return children


#: the deepest nesting of nodes in a type expression: it is processed recursively
_MAX_DEPTH: Final = 100
_MAX_DIGITS: Final = 40


@lru_cache(maxsize=4096)
def parse(text: str) -> Node:
    """Read a type, a type expression or a return program.

    Raises:
        InvalidPlanError: the text does not follow the grammar, or is nested too deep.
    """
    parser = _Parser(text)
    try:
        root = parser.program()
    except RecursionError:
        raise parser.too_deep() from None
    todo = [(root, 1)]
    while todo:
        node, depth = todo.pop()
        if depth > _MAX_DEPTH:
            raise parser.too_deep()
        todo.extend((child, depth + 1) for child in _children(node))
    return root


class _Parser:
    """One pass over the tokens of one text; nothing else keeps a reference to it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        self.originals: list[str] = []
        self.position = 0
        place = 0
        while place < len(text):
            token = _TOKEN.match(text, place)
            if token is None:
                raise self.error(f"the character {text[place]!r} has no place here")
            place = token.end()
            kind = str(token.lastgroup)
            if kind != "skip":
                value = token.group()
                self.originals.append(value)
                if kind in ("name", "symbol"):
                    value = _SPELLINGS.get(value, value).lower()
                self.tokens.append((kind, value))
        self.tokens.append(("end", ""))

    def error(self, reason: str) -> InvalidPlanError:
        return InvalidPlanError(f"the type expression `{self.text}` cannot be read: {reason}")

    def too_deep(self) -> InvalidPlanError:
        return self.error(f"its parts are nested more than {_MAX_DEPTH} deep")

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def take(self, value: str) -> bool:
        """Return whether the symbol or word is next, and step over it if it is."""
        kind, found = self.peek()
        if found != value or kind not in ("symbol", "name"):
            return False
        self.position += 1
        return True

    def expect(self, value: str) -> None:
        if not self.take(value):
            raise self.error(f"`{value}` expected, {self.found()} found")

    def found(self) -> str:
        kind, value = self.peek()
        return {"end": "the end", "newline": "a new line"}.get(kind, f"`{value}`")

    def name(self) -> str:
        kind, value = self.peek()
        if kind != "name":
            raise self.error(f"a name expected, {self.found()} found")
        self.position += 1
        return value

    def name_as_written(self) -> str:
        self.name()
        return self.originals[self.position - 1]

    def newlines(self) -> int:
        count = 0
        while self.peek()[0] == "newline":
            self.position += 1
            count += 1
        return count

    def program(self) -> Node:
        assignments: list[tuple[str, Node]] = []
        self.newlines()
        while self.peek()[0] == "name" and self.peek(1) == ("symbol", "="):
            start = self.position
            target = self.name()
            if target in _ARITY or _ANY.match(target):
                raise self.error(f"`{target}` is a type and cannot be assigned")
            self.expect("=")
            value = self.expression()
            if not self.newlines():
                # a comparison, not an assignment
                self.position = start
                break
            assignments.append((target, value))
        result = self.expression()
        self.newlines()
        if self.peek()[0] != "end":
            raise self.error(f"nothing more expected, {self.found()} found")
        return Program(tuple(assignments), result) if assignments else result

    def expression(self, angles: bool = True) -> Node:
        """Read one expression; without ``angles``, ``<`` and ``>`` belong to the enclosing type."""
        condition = self.conditional(angles)
        if not self.take("?"):
            return condition
        then = self.expression(angles)
        self.expect(":")
        return Conditional(condition, then, self.expression(angles))

    def conditional(self, angles: bool) -> Node:
        if not self.take("if"):
            return self.binary(0, angles)
        condition = self.expression(angles)
        self.expect("then")
        then = self.expression(angles)
        self.expect("else")
        return Conditional(condition, then, self.conditional(angles))

    #: loosest first
    LEVELS: Final = (("or",), ("and",), ("=", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/"))

    def binary(self, level: int, angles: bool) -> Node:
        if level == len(self.LEVELS):
            return self.operand(angles)
        left = self.binary(level + 1, angles)
        operators = self.LEVELS[level]
        while (angles or "<" not in operators) and self.peek()[0] != "quoted" and self.peek()[1] in operators:
            operator = self.peek()[1]
            self.position += 1
            left = Binary(operator, left, self.binary(level + 1, angles))
        return left

    def operand(self, angles: bool) -> Node:
        kind, _ = self.peek()
        if kind == "number":
            return self.number()
        if kind == "user":
            return self.user_type(None)
        if self.take("-"):
            kind, _ = self.peek()
            if kind != "number":
                raise self.error(f"a number expected after `-`, {self.found()} found")
            return Number(-self.number().value)
        if self.take("!"):
            return Not(self.operand(angles))
        if self.take("("):
            inside = self.expression()
            self.expect(")")
            return inside
        if kind == "name":
            return self.named()
        raise self.error(f"a type or a value expected, {self.found()} found")

    def number(self) -> Number:
        _, digits = self.peek()
        if len(digits) > _MAX_DIGITS:
            raise self.error(f"a number has {len(digits):,} digits")
        self.position += 1
        return Number(int(digits))

    def named(self) -> Node:
        name = self.name()
        if name == "func":
            return self.function_type()
        if name in _ARITY:
            return self.built_in(name)
        if _ANY.match(name):
            nullable = self.take("?")
            return AnyPattern(nullable) if name == "any" else Variable(name, nullable)
        if self.peek() == ("symbol", ".") and self.peek(1)[0] == "user":
            self.position += 1
            return self.user_type(name)
        if self.take("("):
            arguments: list[Node] = []
            while not self.take(")"):
                if arguments:
                    self.expect(",")
                arguments.append(self.expression())
            return Call(name, tuple(arguments))
        if name in _MISTAKEN:
            raise self.error(f"`{name}` is not a type; write `{_MISTAKEN[name]}`")
        # `flag ? a : b` is a condition, `list<T?>` a mark: only a condition is followed by another expression
        following = self.peek(1)
        goes_on = following[0] in ("name", "number", "user") or following[1] in ("(", "!", "-")
        return Variable(name, not goes_on and self.take("?"))

    def built_in(self, name: str) -> Node:
        nullable = self.take("?")
        arity = _ARITY[name]
        if arity == 0:
            return TypePattern(name, nullable)
        names: list[str] = []
        parameters: list[Node] = []
        self.expect("<")
        while not (arity is None and not parameters and self.take(">")):
            if name == "nstruct":
                names.append(self.field_name())
                self.expect(":")
            parameters.append(self.expression(angles=False))
            if self.take(">"):
                break
            self.expect(",")
        if arity is not None and len(parameters) != arity:
            raise self.error(f"`{name}` takes {arity} parameter{'s' * (arity != 1)}, not {len(parameters)}")
        return TypePattern("struct" if name == "nstruct" else name, nullable, tuple(parameters), tuple(names))

    def field_name(self) -> str:
        kind, value = self.peek()
        if kind == "quoted":
            self.position += 1
            return re.sub(r"\\(.)", r"\1", value[1:-1])
        return self.name_as_written()

    def function_type(self) -> Node:
        nullable = self.take("?")
        self.expect("<")
        parameters: list[Node] = []
        if self.take("("):
            while not self.take(")"):
                if parameters:
                    self.expect(",")
                parameters.append(self.expression())
        else:
            parameters.append(self.expression(angles=False))
        self.expect("->")
        result = self.expression(angles=False)
        self.expect(">")
        return FuncPattern(tuple(parameters), result, nullable)

    def user_type(self, alias: str | None) -> Node:
        self.position += 1
        name = self.name_as_written()
        nullable = self.take("?")
        parameters: list[Node] = []
        if self.take("<"):
            parameters.append(self.expression(angles=False))
            while not self.take(">"):
                self.expect(",")
                parameters.append(self.expression(angles=False))
        return UserPattern(alias, name, nullable, tuple(parameters))
