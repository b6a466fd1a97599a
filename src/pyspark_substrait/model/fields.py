"""The fields of nodes: which hold expressions and relations, and the record over which an expression is computed.

The field types of a node class describe its fields. From these, this module makes the functions by which trees are
walked and rewritten (:mod:`~pyspark_substrait.model.walk`):

- a field of type ``Relation`` is an input of a relation, or the query of an expression;
- a field of type ``Expression``, or of some of its classes, is an expression. Where it is not computed over the record
  of the relation's input, an :class:`Over` names the record: ``Annotated[Expression | None, Over.OUTPUT]``;
- a field whose class has such fields itself, like ``SortField``, is a part: its expressions belong to the node;
- a literal is plain data, unless it has an :class:`Over`;
- a field marked :data:`SHARED` refers to another part of the plan, and :data:`PART` turns an
  expression into a part: neither is an expression or an input of the node;
- an expression marked :data:`CONDITION` is a boolean;
- all others are plain data.

``tuple[X, ...]``, ``tuple[X, Y]``, ``X | None`` and unions are resolved. The functions of a class are generated on
first use, as source code, so that no annotations are looked up while a tree is walked. :data:`FIELD_TYPES` has what
reading a node from its message has to know.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import threading
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Final, Generic, TypeVar

from pyspark_substrait.model.function_source import FunctionSource

__all__ = [
    "CONDITION",
    "EXPRESSIONS",
    "FIELD_TYPES",
    "PART",
    "PLACED_EXPRESSIONS",
    "RECORDS",
    "RELATIONS",
    "SHARED",
    "WITH_EXPRESSIONS",
    "WITH_RELATIONS",
    "FieldType",
    "Over",
    "declare",
]


class Over(Enum):
    """The record over which an expression of a relation is computed.

    INPUT: that of the only input; of a join, the left columns and the right ones behind them.
    LEFT, RIGHT: that of one input of a join.
    OUTPUT: the direct output of the relation, before emit.
    TABLE: that of the table that is read or changed.
    NOTHING: none; the expression has no columns to refer to.
    """

    INPUT = "the input"
    LEFT = "the left input"
    RIGHT = "the right input"
    OUTPUT = "the output"
    TABLE = "the table"
    NOTHING = "nothing"


class _Mark(Enum):
    SHARED = "a part of the plan that stands elsewhere"
    PART = "a part of the node, not an expression of it"
    CONDITION = "a boolean"


#: marks a field that refers to a part of the plan stored elsewhere
SHARED: Final = _Mark.SHARED
#: marks an expression that only groups the expressions in it
PART: Final = _Mark.PART
#: marks an expression that must be a boolean
CONDITION: Final = _Mark.CONDITION

# the types of fields --------------------------------------------------------------------------------------------------

_names: dict[str, Any] = {}
_expressions: frozenset[type] = frozenset()
_relations: frozenset[type] = frozenset()
_types: frozenset[type] = frozenset()


def declare(*, expressions: Any = None, relations: Any = None, types: Any = None, **names: Any) -> None:
    """Register the unions of expressions, relations and types, and other names that annotations use in advance."""
    global _expressions, _relations, _types
    if types is not None:
        _types = frozenset(typing.get_args(types))
    if expressions is not None:
        _expressions, _names["Expression"] = frozenset(typing.get_args(expressions)), expressions
    if relations is not None:
        _relations, _names["Relation"] = frozenset(typing.get_args(relations)), relations
    _names.update(names)


@dataclasses.dataclass(frozen=True, slots=True)
class _Leaf:
    """An expression or a relation. ``only``: the classes that it may have, if these are not all of its union."""

    family: str
    over: Over
    only: tuple[type, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class _Optional:
    shape: _Shape


@dataclasses.dataclass(frozen=True, slots=True)
class _Many:
    shape: _Shape


@dataclasses.dataclass(frozen=True, slots=True)
class _Row:
    shapes: tuple[_Shape | None, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class _Part:
    """A dataclass with such fields in it."""

    owner: type
    fields: tuple[tuple[str, _Shape], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class _Choice:
    """One of several parts, a leaf, or plain data of some classes."""

    parts: tuple[_Part, ...]
    leaf: _Leaf | None
    plain: tuple[type, ...]


_Shape: typing.TypeAlias = _Leaf | _Optional | _Many | _Row | _Part | _Choice


@functools.cache
def _hints(owner: type) -> dict[str, Any]:
    return typing.get_type_hints(owner, localns=_names, include_extras=True)


def _shapes(owner: type) -> tuple[tuple[str, _Shape], ...]:
    """The fields of a class that are not plain data, in their order."""
    hints = _hints(owner)
    found = ((item.name, _shape(hints[item.name], Over.INPUT)) for item in dataclasses.fields(owner))
    return tuple((name, shape) for name, shape in found if shape is not None)


def _shape(hint: Any, over: Over, marked: bool = False) -> _Shape | None:
    """The shape of a type; None for plain data. ``marked``: it has an :class:`Over`."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        inner, *marks = arguments
        if SHARED in marks:
            return None
        if PART in marks:
            return _part(inner, over)
        places = [mark for mark in marks if isinstance(mark, Over)]
        return _shape(inner, places[0] if places else over, marked or bool(places))
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            item = _shape(arguments[0], over, marked)
            return None if item is None else _Many(item)
        items = tuple(_shape(argument, over, marked) for argument in arguments)
        return _Row(items) if any(items) else None
    classes = arguments if origin in (typing.Union, types.UnionType) else (hint,)
    if any(typing.get_origin(item) not in (None, typing.Literal) for item in classes):
        return _of_generic(classes, over, marked)
    chosen = [item for item in classes if item is not types.NoneType]
    shape = _of_classes([item for item in chosen if isinstance(item, type)], over, marked)
    return _Optional(shape) if shape is not None and types.NoneType in classes else shape


def _of_generic(classes: tuple[Any, ...], over: Over, marked: bool) -> _Shape | None:
    """Return the shape of ``tuple[X, ...] | None`` and the like: at most one such form besides None and plain data."""
    shapes = [(item, _shape(item, over, marked)) for item in classes if item is not types.NoneType]
    found = [shape for _, shape in shapes if shape is not None]
    if not found:
        return None
    if len(shapes) > 1:
        raise TypeError(f"the fields of {classes} cannot be told apart")
    return _Optional(found[0]) if types.NoneType in classes else found[0]


def _of_classes(classes: list[type], over: Over, marked: bool) -> _Shape | None:
    for family, known in (("expression", _expressions), ("relation", _relations)):
        members = frozenset(classes) & known
        if not members or (not marked and [item.__name__ for item in members] == ["Literal"]):
            continue
        leaf = _Leaf(family, over, () if members == known else tuple(item for item in classes if item in members))
        parts = tuple(part for item in classes if item not in members and (part := _part(item, over)) is not None)
        plain = tuple(item for item in classes if item not in members and all(item is not part.owner for part in parts))
        return _Choice(parts, leaf, plain) if parts or plain else leaf
    parts = tuple(part for item in classes if (part := _part(item, over)) is not None)
    if len(classes) == 1:
        return parts[0] if parts else None
    return _Choice(parts, None, ()) if parts else None


_part_fields: dict[type, tuple[tuple[str, _Shape], ...]] = {}


def _part(owner: type, over: Over) -> _Part | None:
    if owner in _types or not dataclasses.is_dataclass(owner):
        return None
    if owner not in _part_fields:
        _part_fields[owner] = ()  # for a recursive class, like that of a list's type
        _part_fields[owner] = _shapes(owner)
    found = tuple((name, _moved(shape, over)) for name, shape in _part_fields[owner])
    return _Part(owner, found) if found else None


def _moved(shape: _Shape, over: Over) -> _Shape:
    """Return the shape of a field of a part, whose expressions are over the part's record unless marked otherwise."""
    match shape:
        case _Leaf(over=Over.INPUT):
            return dataclasses.replace(shape, over=over)
        case _Leaf():
            return shape
        case _Optional(shape=inner):
            return _Optional(_moved(inner, over))
        case _Many(shape=inner):
            return _Many(_moved(inner, over))
        case _Row(shapes=items):
            return _Row(tuple(None if item is None else _moved(item, over) for item in items))
        case _Part(fields=fields):
            return dataclasses.replace(shape, fields=tuple((name, _moved(item, over)) for name, item in fields))
        case _Choice(parts=parts, leaf=leaf):
            moved = [typing.cast(_Part, _moved(part, over)) for part in parts]
            one = None if leaf is None else typing.cast(_Leaf, _moved(leaf, over))
            return dataclasses.replace(shape, parts=tuple(moved), leaf=one)


def _leaves(shape: _Shape | None) -> Iterator[_Leaf]:
    """Yield the expressions and relations in a shape."""
    match shape:
        case _Leaf():
            yield shape
        case _Optional(shape=inner) | _Many(shape=inner):
            yield from _leaves(inner)
        case _Row(shapes=items):
            yield from itertools.chain(*map(_leaves, items))
        case _Part(fields=fields):
            yield from itertools.chain(*(_leaves(item) for _, item in fields))
        case _Choice(parts=parts, leaf=leaf):
            yield from itertools.chain(_leaves(leaf), *map(_leaves, parts))


def _records(shape: _Shape | None) -> frozenset[Over]:
    """The records over which the expressions in a field are computed."""
    return frozenset(leaf.over for leaf in _leaves(shape) if leaf.family == "expression")


@dataclasses.dataclass(frozen=True, slots=True)
class FieldType:
    """The type of a field.

    Args:
        classes: the classes of its values; of a tuple, those of its items. Generic ones are left out.
        optional: whether it may be None.
        over: the record of the first expression in it, or one that a relation is computed for; None if there is none.
        condition: whether it is a condition.
    """

    classes: tuple[type, ...]
    optional: bool
    over: Over | None
    condition: bool


def _field_types(owner: type) -> dict[str, FieldType]:
    found, hints = {}, _hints(owner)
    for item in dataclasses.fields(owner):
        hint = hints[item.name]
        parts = [*_flat(hint)]
        leaves = [*_leaves(_shape(hint, Over.INPUT))]
        places = (leaf.over for leaf in leaves if leaf.family == "expression" or leaf.over is not Over.INPUT)
        found[item.name] = FieldType(
            classes=tuple(part for part in parts if isinstance(part, type) and part is not types.NoneType),
            optional=types.NoneType in parts,
            over=next(places, None),
            condition=CONDITION in parts,
        )
    return found


def _flat(hint: Any) -> Iterator[Any]:
    """Yield the classes in a type, and its marks."""
    arguments = typing.get_args(hint)
    if not arguments:
        yield hint
    for argument in arguments:
        yield from _flat(argument)


# functions made of them -----------------------------------------------------------------------------------------------


_LeafText: typing.TypeAlias = Callable[[_Leaf, str], str]


class _Source(FunctionSource):
    """The source of a function of the expressions or the relations in a node."""

    def __init__(self, family: str) -> None:
        super().__init__(kept=_kept, Over=Over)
        self.family = family

    def holds(self, shape: _Shape | None) -> bool:
        """Whether a shape contains a leaf of the family."""
        return any(leaf.family == self.family for leaf in _leaves(shape))

    # collecting: statements that put leaves into `found`

    def collect(self, shape: _Shape | None, value: str, leaf: _LeafText, indent: str = "    ") -> None:
        if not self.holds(shape):
            return
        deeper = indent + "    "
        match shape:
            case _Leaf():
                self.lines.append(f"{indent}found.append({leaf(shape, value)})")
            case _Optional(shape=inner):
                item = self.name()
                self.lines += [f"{indent}{item} = {value}", f"{indent}if {item} is not None:"]
                self.collect(inner, item, leaf, deeper)
            case _Many(shape=_Leaf() as inner):
                item = self.name()
                text = leaf(inner, item)
                self.lines.append(f"{indent}found += {value if text == item else f'[{text} for {item} in {value}]'}")
            case _Many(shape=inner):
                item = self.name()
                self.lines.append(f"{indent}for {item} in {value}:")
                self.collect(inner, item, leaf, deeper)
            case _Row(shapes=items):
                for position, inner_ in enumerate(items):
                    self.collect(inner_, f"{value}[{position}]", leaf, indent)
            case _Part(fields=fields):
                for name, inner in fields:
                    self.collect(inner, f"{value}.{name}", leaf, indent)
            case _Choice(parts=parts, leaf=one, plain=plain):
                item = self.name()
                self.lines.append(f"{indent}{item} = {value}")
                word = "if"
                for part in parts:
                    if self.holds(part):
                        self.lines.append(f"{indent}{word} {item}.__class__ is {self.name(part.owner)}:")
                        self.collect(part, item, leaf, deeper)
                        word = "elif"
                if one is not None and self.holds(one):
                    others = frozenset({*plain, *(part.owner for part in parts if not self.holds(part))})
                    self.lines.append(f"{indent}{word} {item}.__class__ not in {self.name(others)}:")
                    self.collect(one, item, leaf, deeper)

    # replacing: an expression whose value is the field with `change` applied to its leaves

    def replaced(self, shape: _Shape | None, value: str, where: str) -> str:
        if not self.holds(shape):
            return value
        match shape:
            case _Leaf(only=()):
                return f"change({value})"
            case _Leaf(only=only):
                return f"kept(change({value}), {self.name(only)}, {where!r})"
            case _Optional(shape=inner):
                item = self.name()
                return f"(None if ({item} := {value}) is None else {self.replaced(inner, item, where)})"
            case _Many(shape=inner):
                item = self.name()
                return f"tuple([{self.replaced(inner, item, where)} for {item} in {value}])"
            case _Row(shapes=items):
                texts = [self.replaced(item, f"{value}[{place}]", where) for place, item in enumerate(items)]
                return f"({', '.join(texts)},)"
            case _Part(owner=owner, fields=fields):
                return self.remade(owner, fields, value)
            case _Choice(parts=parts, leaf=leaf, plain=plain):
                item = self.name()
                known = [(self.name(part.owner), self.replaced(part, item, where)) for part in parts]
                others = frozenset(plain) if leaf is not None and self.holds(leaf) else None
                end = item
                if others is not None:
                    assert leaf is not None
                    end = f"{item} if {item}.__class__ in {self.name(others)} else {self.replaced(leaf, item, where)}"
                tests = "".join(f"{text} if {item}.__class__ is {owner_} else " for owner_, text in known)
                return self.bound(item, value, tests + end)
        raise AssertionError(shape)

    def bound(self, name: str, value: str, text: str) -> str:
        """An expression with a value bound to a name."""
        return f"[{text} for {name} in ({value},)][0]"

    def remade(self, owner: type, fields: tuple[tuple[str, _Shape], ...], value: str) -> str:
        """A call that creates the object again, with the changed fields."""
        shapes = dict(fields)
        texts = []
        for item in dataclasses.fields(owner):
            text = self.replaced(shapes.get(item.name), f"{value}.{item.name}", f"{owner.__name__}.{item.name}")
            texts.append(f"{item.name}={text}")
        return f"{self.name(owner)}({', '.join(texts)})"


def _kept(node: Any, classes: tuple[type, ...], where: str) -> Any:
    if not isinstance(node, classes):
        names = " or ".join(item.__name__ for item in classes)
        raise TypeError(f"{where} must stay a {names}, and became a {node.__class__.__name__}")
    return node


def _collector(owner: type, family: str, leaf: _LeafText) -> Any:
    source = _Source(family)
    shapes = [(name, shape) for name, shape in _FIELDS[owner] if source.holds(shape)]
    match shapes:
        case []:
            return _nothing
        case [(name, _Many(shape=_Leaf()))] if leaf is _itself:
            return source.function("node", f"node.{name}")
    if leaf is _itself and all(isinstance(shape, _Leaf) for _, shape in shapes):
        return source.function("node", f"({', '.join(f'node.{name}' for name, _ in shapes)},)")
    source.lines.append("    found = []")
    for name, shape in shapes:
        source.collect(shape, f"node.{name}", leaf)
    return source.function("node", "tuple(found)")


def _itself(leaf: _Leaf, value: str) -> str:
    return value


def _nothing(node: Any) -> tuple[()]:
    return ()


def _replacer(owner: type, family: str) -> Any:
    source = _Source(family)
    shapes = tuple((name, shape) for name, shape in _FIELDS[owner] if source.holds(shape))
    return source.function("node, change", source.remade(owner, shapes, "node") if shapes else "node")


_F = TypeVar("_F")


_making = threading.RLock()


class _ByClass(dict[type, _F], Generic[_F]):
    """A function for each class of nodes, made on first access."""

    def __init__(self, make: Callable[[type], _F]) -> None:
        self.make = make

    def __missing__(self, owner: type) -> _F:
        with _making:  # the fields of a part are incomplete in between
            if owner not in self:
                self[owner] = self.make(owner)
        return self[owner]


_FIELDS: Final = _ByClass(_shapes)
#: the fields of a class that hold expressions, each with the records that these are computed over
RECORDS: Final[Mapping[type, Mapping[str, frozenset[Over]]]] = _ByClass(
    lambda owner: {name: found for name, shape in _FIELDS[owner] if (found := _records(shape))}
)
#: the direct expressions of a node, in the order of its fields
EXPRESSIONS: Final[Mapping[type, Callable[[Any], tuple[Any, ...]]]] = _ByClass(
    lambda owner: _collector(owner, "expression", _itself)
)
#: the same, each with the record that it is computed over
PLACED_EXPRESSIONS: Final[Mapping[type, Callable[[Any], tuple[tuple[Any, Over], ...]]]] = _ByClass(
    lambda owner: _collector(owner, "expression", lambda leaf, value: f"({value}, Over.{leaf.over.name})")
)
#: the inputs of a relation, or the query of an expression
RELATIONS: Final[Mapping[type, Callable[[Any], tuple[Any, ...]]]] = _ByClass(
    lambda owner: _collector(owner, "relation", _itself)
)
#: a node with a function applied to each of its direct expressions
WITH_EXPRESSIONS: Final[Mapping[type, Callable[[Any, Callable[[Any], Any]], Any]]] = _ByClass(
    lambda owner: _replacer(owner, "expression")
)
#: a node with a function applied to its inputs, or to its query
WITH_RELATIONS: Final[Mapping[type, Callable[[Any, Callable[[Any], Any]], Any]]] = _ByClass(
    lambda owner: _replacer(owner, "relation")
)
#: the types of the fields of a class, by name
FIELD_TYPES: Final[Mapping[type, Mapping[str, FieldType]]] = _ByClass(_field_types)
