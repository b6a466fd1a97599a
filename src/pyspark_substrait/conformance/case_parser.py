"""Function cases of a text, by the specification's grammar (package ``substrait-antlr``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from antlr4 import CommonTokenStream, InputStream
from substrait_antlr.func_test_case.FuncTestCaseLexer import FuncTestCaseLexer
from substrait_antlr.func_test_case.FuncTestCaseParser import FuncTestCaseParser as Grammar

from pyspark_substrait.conformance.case_values import Unreadable, type_of, value_of
from pyspark_substrait.conformance.function_cases import Argument, Call, Case, Column, Function, Name, UnreadCase, Word
from pyspark_substrait.errors import PlanFormatError
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Binary, Func, List, Map, String, Struct, Type, UserDefined, with_nullability

__all__ = ["parsed"]


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
    try:
        import shapely
    except ImportError:
        raise Unreadable("geometries need the package shapely") from None

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
    arguments: list[Argument] = []
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
    result = tree.windowResult()
    expected: str | tuple[Literal, ...]
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


def parsed(source: str, file: str) -> Iterator[Case | UnreadCase]:
    """Yield every case of a file of cases.

    Args:
        source: the text of the file.
        file: its name, for the cases.

    Raises:
        PlanFormatError: the text doesn't follow the grammar.
    """
    parser = Grammar(CommonTokenStream(FuncTestCaseLexer(InputStream(source))))
    parser.removeErrorListeners()
    document = parser.doc()
    if parser.getNumberOfSyntaxErrors():
        raise PlanFormatError(f"{file} does not follow the grammar of function cases")
    urn = document.header().include().ExtensionUrn().getText()
    for tests in document.testGroup():
        for tree in tests.getChildren():
            if isinstance(tree, Grammar.TestGroupDescriptionContext):
                continue
            try:
                yield replace(_case(tree, file, urn), line=tree.start.line)
            except Unreadable as error:
                yield UnreadCase(file, tree.start.line, _source(tree), str(error))


def _case(tree: Any, file: str, urn: str) -> Case:
    if urn.endswith("unsigned_integers") and _is_unsigned_aggregate(tree):
        return _unsigned_aggregate(tree, file, urn)
    if isinstance(tree, Grammar.TestCaseContext):
        return _scalar(tree, file, urn)
    if isinstance(tree, Grammar.AggFuncTestCaseContext):
        return _aggregate(tree, file, urn)
    if isinstance(tree, Grammar.WindowFuncTestCaseContext):
        return _window(tree, file, urn)
    raise Unreadable(f"a {tree.__class__.__name__}")
