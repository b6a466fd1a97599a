"""The parser of type expressions, against the generated parser of the official grammar."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from antlr4 import CommonTokenStream, InputStream
from antlr4.error.ErrorListener import ErrorListener
from substrait_antlr.substrait_type.SubstraitTypeLexer import SubstraitTypeLexer
from substrait_antlr.substrait_type.SubstraitTypeParser import SubstraitTypeParser as Official

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.type_syntax import (
    AnyPattern,
    Binary,
    Call,
    Conditional,
    FuncPattern,
    Node,
    Not,
    Number,
    Program,
    TypePattern,
    UserPattern,
    Variable,
    parse,
)
from pyspark_substrait.specification import folder


def official_expressions() -> Iterator[str]:
    """Every type expression of every official extension file, once."""
    found: set[str] = set()
    for file in folder().glob("*.yaml"):
        document = yaml.load(file.read_text(), Loader=yaml.BaseLoader)
        for section in ("scalar_functions", "aggregate_functions", "window_functions"):
            for function in document.get(section, ()):
                for implementation in function["impls"]:
                    found.add(implementation["return"])
                    found.add(implementation.get("intermediate", "i64"))
                    found.update(
                        argument["value"] for argument in implementation.get("args", ()) if "value" in argument
                    )
    yield from sorted(found)


class Raising(ErrorListener):  # type: ignore[misc]
    def syntaxError(self, recognizer: Any, symbol: Any, line: int, column: int, message: str, error: Any) -> None:
        raise ValueError(message)


def official_tree(text: str) -> Node:
    """Parse with the generated parser, and bring its tree to our nodes."""
    lexer = SubstraitTypeLexer(InputStream(text))
    parser = Official(CommonTokenStream(lexer))
    for recognizer in (lexer, parser):
        recognizer.removeErrorListeners()
        recognizer.addErrorListener(Raising())
    return convert(parser.startRule().expr())


def marked(context: Any) -> bool:
    return context.isnull is not None


def convert(context: Any) -> Node:
    kind = type(context).__name__.removesuffix("Context")
    match kind:
        case "ParenExpression":
            return convert(context.expr())
        case "MultilineDefinition":
            names = [token.getText().lower() for token in context.Identifier()]
            values = [convert(child) for child in context.expr()]
            return Program(tuple(zip(names, values, strict=True)), convert(context.finalType))
        case "TypeLiteral":
            return convert(context.typeDef())
        case "LiteralNumber" | "NumericLiteral":
            return Number(int(context.getText()))
        case "ParameterName":
            return Variable(context.Identifier().getText().lower(), marked(context))
        case "NumericParameterName":
            return Variable(context.getText().lower())
        case "NumericExpression":
            return convert(context.expr())
        case "FunctionCall":
            return Call(context.Identifier().getText().lower(), tuple(map(convert, context.expr())))
        case "MulDiv" | "AddSub" | "Comparison" | "Equality" | "And" | "Or":
            return Binary(context.op.text.lower(), convert(context.left), convert(context.right))
        case "Ternary" | "IfExpr":
            return Conditional(convert(context.ifExpr), convert(context.thenExpr), convert(context.elseExpr))
        case "NotExpr":
            return Not(convert(context.expr()))
        case "TypeDef":
            if context.anyType() is not None:
                name = (context.anyType().Any() or context.anyType().AnyVar()).getText().lower()
                nullable = marked(context.anyType())
                return AnyPattern(nullable) if name == "any" else Variable(name, nullable)
            if context.scalarType() is not None:
                return TypePattern(context.scalarType().getText().lower(), marked(context))
            return convert(context.parameterizedType())
        case "UserDefined":
            names = [token.getText() for token in context.Identifier()]
            alias = names[0].lower() if context.dependencyAlias is not None else None
            return UserPattern(alias, names[-1], marked(context), tuple(map(convert, context.expr())))
        case "Func":
            parameters = context.funcParams().expr()
            listed = parameters if isinstance(parameters, list) else [parameters]
            return FuncPattern(tuple(map(convert, listed)), convert(context.returnType), marked(context))
        case "NStruct":
            names = [token.getText() for token in context.Identifier()]
            return TypePattern("struct", marked(context), tuple(map(convert, context.expr())), tuple(names))
        case _:
            children = [convert(child) for child in context.getChildren() if hasattr(child, "getRuleIndex")]
            return TypePattern(context.getChild(0).getText().lower(), marked(context), tuple(children))


@pytest.mark.parametrize("text", list(official_expressions()))
def test_official_expressions_read_as_the_official_parser_reads_them(text: str) -> None:
    assert parse(text) == official_tree(text)


@pytest.mark.parametrize(
    "text",
    [
        "1 + 2 * 3 - 4",
        "a / b / c",
        "(1 + 2) * 3",
        "P > 38 ? 38 : P",
        "a ? b : c",
        "if a < b then 1 else if c = d then 2 else 3",
        "a = b and c != d or e <= f",
        "! a and b",
        "a and ! b or c",
        "if a then b else c ? d : e",
        "a ? b : c ? d : e",
        "x >= -1",
        "max(S1, min(S2, 6))",
        "list?<map<string?, struct?<i8, any1?>>>",
        "NSTRUCT<Longitude: i32, latitude: fp64?>",
        "func?<(any1, any2?) -> list<any3>>",
        "func<(i8) -> i8>",
        "ext.u!point?",
        "u!Vector<any1, 3>",
        "DECIMAL<P + 1, max(S, 2)>",
        "decimal<(P > 37 ? 38 : P + 1), 0>",
        "K?",
        "i64 // the sum",
        "a = 1\nb = a + 1\n\nvarchar?<b>",
    ],
)
def test_made_up_expressions_read_as_the_official_parser_reads_them(text: str) -> None:
    assert parse(text) == official_tree(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "i64 i64",
        "decimal<1>",
        "list<>",
        "list<i8",
        "1 +",
        "a = 1\n",
        "func<any1>",
        "i64 = 3\ni8",
        "#",
        "u!",
        "max(1,",
    ],
)
def test_what_the_official_parser_refuses_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        official_tree(text)
    with pytest.raises(InvalidPlanError, match="cannot be read"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "advice"), [("str", "write `string`"), ("timestamp", "write `precision_timestamp<6>`")]
)
def test_names_that_look_like_types_are_not_taken_for_parameters(text: str, advice: str) -> None:
    with pytest.raises(InvalidPlanError, match=advice):
        parse(text)


def test_operators_in_the_spelling_of_the_documentation() -> None:
    assert parse("a == b && c || d") == parse("(a = b) and c or d")


def test_field_names_may_be_quoted() -> None:
    assert parse(r'nstruct<"a \"b\"": i8>') == TypePattern("struct", False, (TypePattern("i8"),), ('a "b"',))
