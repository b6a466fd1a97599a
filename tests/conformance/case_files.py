"""Reads function test cases, the specification's (``substrait_extensions/testcases``) and ours, by its grammar.

Spec: tests/README, "Test File Format".
"""

from __future__ import annotations

import datetime
import decimal
import importlib.resources
import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from antlr4 import CommonTokenStream, InputStream
from substrait_antlr.func_test_case.FuncTestCaseLexer import FuncTestCaseLexer
from substrait_antlr.func_test_case.FuncTestCaseParser import FuncTestCaseParser as Grammar

from pyspark_substrait.model.literals import DayTime, Literal, LiteralValue
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    Func,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    UserDefined,
    VarChar,
    with_nullability,
)


class Unreadable(Exception):
    """A case that isn't understood."""


@dataclass(frozen=True)
class Word:
    """An enumeration argument."""

    value: str


@dataclass(frozen=True)
class Column:
    """An argument of an aggregate: a column of its table."""

    position: int
    type: Type


@dataclass(frozen=True)
class Name:
    """A parameter of the lambda around."""

    value: str


@dataclass(frozen=True)
class Call:
    """A call inside a lambda."""

    function: str
    arguments: tuple[Literal | Word | Name | Call, ...]


@dataclass(frozen=True)
class Function:
    """A lambda: the names and types of its parameters, and its body."""

    parameters: tuple[tuple[str, Type], ...]
    body: Call


Argument: TypeAlias = Literal | Word | Column | Function


@dataclass(frozen=True)
class Case:
    """One case.

    Args:
        file: where it stands.
        text: the case as it is written, in one line.
        urn: the extension of the function.
        function: its name.
        arguments: what it is called with.
        options: names and values of options, as they are written.
        expected: the result, or "error" or "undefined"; of a window function the results for all records.
        types: of a table of records, the types of its columns; only those that an argument names.
        rows: its records; None for a scalar function.
        window: whether the function is called over a window: all records, in their order.
    """

    file: str
    text: str
    urn: str
    function: str
    arguments: tuple[Argument, ...]
    options: tuple[tuple[str, str], ...]
    expected: Literal | tuple[Literal, ...] | str
    types: tuple[Type, ...] = ()
    rows: tuple[tuple[Literal, ...], ...] | None = None
    window: bool = False

    @property
    def ours(self) -> bool:
        """Whether it is of this project, not of the specification."""
        return self.file.startswith("ours/")


_SIMPLE: dict[str, type[Any]] = {
    "bool": Boolean,
    "boolean": Boolean,
    "i8": I8,
    "i16": I16,
    "i32": I32,
    "i64": I64,
    "fp32": FP32,
    "fp64": FP64,
    "str": String,
    "string": String,
    "vbin": Binary,
    "binary": Binary,
    "date": Date,
    "iyear": IntervalYear,
    "interval_year": IntervalYear,
    "uuid": UUID,
}
_LENGTH: dict[str, type[Any]] = {"fchar": FixedChar, "fixedchar": FixedChar, "vchar": VarChar, "varchar": VarChar}
_LENGTH |= {"fbin": FixedBinary, "fixedbinary": FixedBinary}
_PRECISION: dict[str, type[Any]] = {
    "iday": IntervalDay,
    "interval_day": IntervalDay,
    "pt": PrecisionTime,
    "precision_time": PrecisionTime,
    "pts": PrecisionTimestamp,
    "precision_timestamp": PrecisionTimestamp,
    "ptstz": PrecisionTimestampTZ,
    "precision_timestamp_tz": PrecisionTimestampTZ,
    "icompound": IntervalCompound,
    "interval_compound": IntervalCompound,
}


#: user-defined types: the extension that declares each, and what it is made of
_USER: dict[str, tuple[str, Type]] = {
    **{
        name: ("extension:io.substrait:unsigned_integers", Struct(types=(String(),)))
        for name in ("u8", "u16", "u32", "u64")
    },
    "geometry": ("extension:io.substrait:functions_geometry", Binary()),
}


def type_of(text: str) -> Type:
    """A type in the syntax of the cases: ``dec?<38,2>``."""
    found = re.fullmatch(r"(u!)?(\w+)(\??)(?:<(.*)>)?", text.replace(" ", ""))
    if found is None:
        raise Unreadable(text)
    user, name, nullable, inner = bool(found[1]), found[2].lower(), bool(found[3]), found[4]
    if user:
        urn, structure = _USER[name]
        return UserDefined(urn=urn, name=name, structure=structure, nullable=nullable)
    if name in _SIMPLE:
        return _SIMPLE[name](nullable=nullable)
    if name in _LENGTH:
        return _LENGTH[name](length=int(inner), nullable=nullable)
    if name in _PRECISION:
        return _PRECISION[name](precision=int(inner or 6), nullable=nullable)
    if name in ("dec", "decimal"):
        precision, scale = (int(part) for part in (inner or "38,0").split(","))
        return Decimal(precision=precision, scale=scale, nullable=nullable)
    if name == "list":
        return List(type=type_of(inner), nullable=nullable)
    if name == "struct":
        return Struct(types=tuple(type_of(part) for part in _parts(inner)), nullable=nullable)
    if name == "map":
        key, value = (type_of(part) for part in _parts(inner))
        return Map(key=key, value=value, nullable=nullable)
    if name == "func":
        taken, _, given = inner.rpartition("->")
        types = tuple(type_of(part) for part in _parts(re.sub(r"^\((.*)\)$", r"\1", taken)))
        return Func(parameter_types=types, return_type=type_of(given), nullable=nullable)
    raise Unreadable(text)


def _parts(text: str) -> list[str]:
    """What stands between commas that are in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def value_of(text: str, type: Type) -> LiteralValue:
    """The value of a literal that isn't nested."""
    if text.lower() == "null":
        return None
    match type:
        case Boolean():
            return text.lower() == "true"
        case I8() | I16() | I32() | I64():
            return int(text)
        case FP32() | FP64():
            number = math.nan if text.lower() in ("nan", "snan") else float(text)
            return struct.unpack("f", struct.pack("f", number))[0] if isinstance(type, FP32) else number
        case Decimal(scale=scale):
            return decimal.Decimal(text).quantize(decimal.Decimal(1).scaleb(-scale), context=decimal.Context(prec=76))
        case String() | VarChar() | FixedChar():
            # every other backslash stands for itself: regular expressions are full of them
            return re.sub(r"\\([nrt'])", lambda found: {"n": "\n", "r": "\r", "t": "\t"}.get(found[1], "'"), text[1:-1])
        case Binary() | FixedBinary():
            return text[1:-1].encode()
        case Date():
            return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days
        case PrecisionTime(precision=precision):
            return _units(f"1970-01-01T{text}", precision)
        case PrecisionTimestamp(precision=precision) | PrecisionTimestampTZ(precision=precision):
            return _units(text, precision)
        case IntervalYear():
            found = re.fullmatch(r"P(?:(-?\d+)Y)?(?:(-?\d+)M)?", text, re.IGNORECASE)
            assert found is not None
            return int(found[1] or 0) * 12 + int(found[2] or 0)
        case IntervalDay(precision=precision):
            return _day_time(text, precision)
        case _:
            raise Unreadable(str(type))


def _units(text: str, precision: int) -> int:
    """A date and time in ISO form, with or without an offset, as units since 1970."""
    found = re.fullmatch(r"([^.]+?)(?:\.(\d+))?([-+]\d\d:\d\d)?", text)
    assert found is not None, text
    moment = datetime.datetime.fromisoformat(f"{found[1]}{found[3] or '+00:00'}")
    seconds = (moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(seconds=1)
    return seconds * int(10**precision) + int((found[2] or "").ljust(12, "0")) // int(10 ** (12 - precision))


def _day_time(text: str, precision: int) -> DayTime:
    number = r"(-?[\d.]+)"
    found = re.fullmatch(rf"P(?:{number}D)?(?:T(?:{number}H)?(?:{number}M)?(?:{number}S)?)?", text, re.IGNORECASE)
    assert found is not None, text
    days, hours, minutes = (int(found[group] or 0) for group in (1, 2, 3))
    seconds = decimal.Decimal(found[4] or 0)
    fraction = int((seconds % 1).scaleb(precision))
    return DayTime(days, hours * 3600 + minutes * 60 + int(seconds), fraction)


# the parse tree ------------------------------------------------------------------------------------------------------


def _literal(tree: Any, type: Type) -> Literal:
    """The literal of a compound literal, a list or a plain one."""
    if isinstance(tree, Grammar.CompoundLiteralContext):
        return _literal(tree.getChild(0), type)
    if isinstance(tree, Grammar.LiteralListContext):
        assert isinstance(type, List)
        return Literal(type=type, value=tuple(_literal(item, type.type) for item in tree.compoundLiteral()))
    if isinstance(tree, Grammar.LiteralStructContext):
        if isinstance(type, UserDefined):
            (field,) = tree.compoundLiteral()
            return _user_defined(field, type)
        assert isinstance(type, Struct)
        fields = tree.compoundLiteral()
        return Literal(type=type, value=tuple(_literal(*pair) for pair in zip(fields, type.types, strict=True)))
    if isinstance(tree, Grammar.LiteralMapContext):
        assert isinstance(type, Map)
        pairs = tuple((_literal(pair.key, type.key), _literal(pair.value, type.value)) for pair in tree.mapEntry())
        return Literal(type=type, value=pairs)
    return Literal(type=type, value=value_of(tree.getText(), type))


def _user_defined(tree: Any, type: UserDefined) -> Literal:
    """An unsigned integer, whose one field is its digits; a geometry, which is written as well-known text."""
    if tree.getText().lower() == "null":
        return Literal(type=type, value=None)
    written = _literal(tree, String())
    if isinstance(type.structure, Struct):
        return Literal(type=type, value=(written,))
    import shapely

    known = shapely.to_wkb(shapely.from_wkt(written.value), byte_order=1, flavor="iso")
    return Literal(type=type, value=(Literal(type=Binary(), value=known),))


def _argument(tree: Any) -> Literal | Word | Function:
    inner = tree.getChild(0)
    if isinstance(inner, Grammar.EnumArgContext):
        return Word(inner.getChild(0).getText())
    if inner.getChildCount() != 3 or inner.getChild(1).getText() != "::":
        raise Unreadable(tree.getText())
    type = type_of(_source(inner.getChild(2)))
    if isinstance(inner, Grammar.LambdaArgContext):
        assert isinstance(type, Func)
        names = inner.literalLambda().lambdaParameters().Identifier()
        names = [name.getText() for name in (names if isinstance(names, list) else [names])]
        body = inner.literalLambda().lambdaBody()
        return Function(tuple(zip(names, type.parameter_types, strict=True)), _call(body))
    return _literal(inner.getChild(0), type)


def _call(tree: Any) -> Call:
    """A call inside a lambda."""
    arguments: list[Literal | Word | Name | Call] = []
    for item in tree.arguments().argument():
        inner = item.getChild(0)
        if isinstance(inner, Grammar.FuncCallArgContext):
            arguments.append(_call(inner))
        elif not hasattr(inner, "getChildCount") or inner.getChildCount() == 0:
            arguments.append(Name(inner.getText()))
        else:
            found = _argument(item)
            assert not isinstance(found, Function)
            arguments.append(found)
    return Call(tree.identifier().getText().lower(), tuple(arguments))


def _result(tree: Any) -> Literal | str:
    inner = tree.getChild(0)
    if isinstance(inner, Grammar.SubstraitErrorContext):
        return "error" if "ERROR" in inner.getText().upper() else "undefined"
    found = _argument(inner)
    assert isinstance(found, Literal), "a result is a value"
    return found


def _options(tree: Any) -> tuple[tuple[str, str], ...]:
    if tree is None:
        return ()
    return tuple((option.optionName().getText(), option.optionValue().getText()) for option in tree.funcOption())


def _scalar(tree: Any, file: str, urn: str) -> Case:
    arguments = tree.arguments()
    return Case(
        file=file,
        text=_source(tree),
        urn=urn,
        function=tree.functionName.getText().lower(),
        arguments=tuple(_argument(argument) for argument in arguments.argument()) if arguments else (),
        options=_options(tree.funcOptions()),
        expected=_result(tree.result()),
    )


def _is_unsigned_aggregate(tree: Any) -> bool:
    return hasattr(tree, "functionName") and tree.functionName.getText() in ("sum", "min", "max")


def _unsigned_aggregate(tree: Any, file: str, urn: str) -> Case:
    """An aggregate of unsigned integers, which the grammar takes for the call of a scalar function with a struct."""
    inner = tree.arguments().argument(0).getChild(0)
    type = type_of(inner.getChild(2).getText())
    assert isinstance(type, UserDefined)
    struct = inner.getChild(0)
    while not hasattr(struct, "compoundLiteral"):
        struct = struct.getChild(0)
    if any(item.getText().lower() == "null" for item in struct.compoundLiteral()):
        type = with_nullability(type, True)
    return Case(
        file=file,
        text=_source(tree),
        urn=urn,
        function=tree.functionName.getText().lower(),
        arguments=(Column(0, type),),
        options=_options(tree.funcOptions()),
        expected=_result(tree.result()),
        types=(type,),
        rows=tuple((_user_defined(item, type),) for item in struct.compoundLiteral()),
    )


def _aggregate(tree: Any, file: str, urn: str) -> Case:
    call = tree.aggFuncCall()
    arguments: list[Literal | Word | Column] = []
    types: dict[int, Type] = {}
    if isinstance(call, Grammar.SingleArgAggregateFuncCallContext):
        column = call.dataColumn()
        types[0] = type_of(column.dataType().getText())
        arguments.append(Column(0, types[0]))
        values = [[item] for item in column.columnValues().literal()]
        name = call.functName.getText()
    elif isinstance(call, Grammar.CompactAggregateFuncCallContext):
        for item in call.aggregateFuncArgs().aggregateFuncArg() if call.aggregateFuncArgs() else ():
            if item.ColumnName():
                position = int(item.ColumnName().getText()[3:])
                types[position] = type_of(item.dataType().getText())
                arguments.append(Column(position, types[position]))
            else:
                arguments.append(_argument(item.argument()))
        values = [row.literal() for row in call.tableRows().columnValues()]
        name = call.functName.getText()
    else:
        table = call.tableData()
        types = {position: type_of(item.getText()) for position, item in enumerate(table.dataType())}
        given = call.qualifiedAggregateFuncArgs()
        for item in given.qualifiedAggregateFuncArg() if given else ():
            if item.ColumnName():
                position = int(item.ColumnName().getText()[3:])
                arguments.append(Column(position, types[position]))
            else:
                arguments.append(_argument(item.argument()))
        values = [row.literal() for row in table.tableRows().columnValues()]
        name = call.funcName.getText()
    # a column that no argument names has no type; nothing looks at it
    used = sorted(types)
    # a column may hold nulls whatever its type says
    empty = {position for position in used if any(row[position].getText().lower() == "null" for row in values if row)}
    types = {
        position: with_nullability(types[position], types[position].nullable or position in empty) for position in used
    }
    arguments = [
        Column(item.position, types[item.position]) if isinstance(item, Column) else item for item in arguments
    ]
    rows = tuple(tuple(_literal(row[position], types[position]) for position in used) for row in values if row)
    placed = tuple(
        Column(used.index(argument.position), argument.type) if isinstance(argument, Column) else argument
        for argument in arguments
    )
    return Case(
        file=file,
        text=_source(tree),
        urn=urn,
        function=name.lower(),
        arguments=placed,
        options=_options(tree.funcOptions()),
        expected=_result(tree.result()),
        types=tuple(types[position] for position in used),
        rows=rows,
    )


def _window(tree: Any, file: str, urn: str) -> Case:
    call = tree.windowFuncCall()
    table = call.tableData()
    types = {position: type_of(_source(item)) for position, item in enumerate(table.dataType())}
    arguments: list[Argument] = []
    for item in call.windowFuncArgs().windowFuncArg() if call.windowFuncArgs() else ():
        if item.ColumnName():
            position = int(item.ColumnName().getText()[3:])
            arguments.append(Column(position, types[position]))
        else:
            arguments.append(_argument(item.argument()))
    result, expected = tree.windowResult(), None
    if result.substraitError():
        expected = "error" if "ERROR" in result.getText().upper() else "undefined"
    else:
        type = type_of(_source(result.dataColumn().dataType()))
        expected = tuple(_literal(item, type) for item in result.dataColumn().columnValues().literal())
    return Case(
        file=file,
        text=_source(tree),
        urn=urn,
        function=call.funcName.getText().lower(),
        arguments=tuple(arguments),
        options=_options(tree.funcOptions()),
        expected=expected,
        types=tuple(types.values()),
        rows=tuple(
            tuple(_literal(item, types[position]) for position, item in enumerate(row.literal()))
            for row in table.tableRows().columnValues()
            if row.literal()
        ),
        window=True,
    )


def _source(tree: Any) -> str:
    stream = tree.start.getInputStream()
    return " ".join(stream.getText(tree.start.start, tree.stop.stop).split())


def _files(own: bool) -> Iterator[tuple[str, str]]:
    """The installed package's files and, with ``own``, ours: a name and the text of each."""
    folder = importlib.resources.files("substrait_extensions") / "testcases"
    for group in sorted(folder.iterdir(), key=lambda item: item.name):
        if group.is_dir():
            for path in sorted(group.iterdir(), key=lambda item: item.name):
                if path.name.endswith(".test"):
                    yield f"{group.name}/{path.name}", path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parent / "cases").glob("*.test")) if own else ():
        yield f"ours/{path.name}", path.read_text(encoding="utf-8")


def read_cases(*, own: bool = True) -> Iterator[Case | tuple[str, str]]:
    """Every case, ours only with ``own``; a pair of file and text for one that can't be read as literals."""
    for file, source in _files(own):
        parser = Grammar(CommonTokenStream(FuncTestCaseLexer(InputStream(source))))
        document = parser.doc()
        assert not parser.getNumberOfSyntaxErrors(), file
        urn = document.header().include().ExtensionUrn().getText()
        for tests in document.testGroup():
            for tree in tests.getChildren():
                if isinstance(tree, Grammar.TestGroupDescriptionContext):
                    continue
                try:
                    if urn.endswith("unsigned_integers") and _is_unsigned_aggregate(tree):
                        yield _unsigned_aggregate(tree, file, urn)
                    elif isinstance(tree, Grammar.TestCaseContext):
                        yield _scalar(tree, file, urn)
                    elif isinstance(tree, Grammar.AggFuncTestCaseContext):
                        yield _aggregate(tree, file, urn)
                    elif isinstance(tree, Grammar.WindowFuncTestCaseContext):
                        yield _window(tree, file, urn)
                    else:
                        yield file, _source(tree)
                except Unreadable:
                    yield file, _source(tree)
