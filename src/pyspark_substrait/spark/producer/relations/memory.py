"""Translate records that are part of the plan: in-memory data, ranges of numbers, a record without columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import NestedStruct
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Cross, Filter, NamedTable, Read, Relation, VirtualTable
from pyspark_substrait.model.types import I64, NamedStruct, Struct
from pyspark_substrait.spark.arrow_transfer import collected
from pyspark_substrait.spark.compatibility import java_package
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.relations.schemas import schema_of, schema_of_fields
from pyspark_substrait.spark.producer.relations.values import arrow_form, literals, whole_months
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, column, field_of
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.spark.tables import first_line

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMS"]

#: the most numbers of a range in one table; larger ranges are computed from several tables
_RANGE: Final = 1_000


def one_row(node: Node, production: Production, outer: Scope | None) -> Output:
    """``OneRowRelation``: a record without columns."""
    return Output(_table(NamedStruct(names=(), struct=Struct(types=())), [()]), ())


def empty(node: Node, production: Production, outer: Scope | None) -> Output:
    """``EmptyRelation`` of optimised plans: no records."""
    attributes = tuple(_attributes(node))
    return Output(_table(schema_of(attributes), ()), tuple(map(column, attributes)))


def _attributes(node: Node) -> tuple[Node, ...]:
    below = node.tree("logical") or (node.children[0] if node.children else node)
    return below.trees("output")


def local(node: Node, production: Production, outer: Scope | None) -> Output:
    """``LocalRelation``: VALUES, and the data of ``createDataFrame``."""
    if node.value("isStreaming"):
        raise streaming("a stream")
    return _held(node, production, int(node.java.data().size()))


def logical_rdd(node: Node, production: Production, outer: Scope | None) -> Output:
    """``LogicalRDD``: the records of an RDD, a checkpoint, or Python rows."""
    if node.value("isStreaming"):
        raise streaming("a stream")
    names = production.stand_ins.get(node.java.rdd().id()) if production.stand_ins else None
    if names is not None:
        attributes = node.trees("output")
        read = Read(base_schema=schema_of(attributes), read_type=NamedTable(names=names))
        return Output(read, tuple(map(column, attributes)))
    return _held(node, production, None)


def streaming(what: str) -> UnsupportedPlanError:
    """Return the error about a stream."""
    return UnsupportedPlanError(
        f"{what} has no Substrait form: a plan reads bounded tables",
        hint="Make the plan of the query over a table, and pass the stream as that table when the plan runs",
    )


def _held(node: Node, production: Production, count: int | None) -> Output:
    """Translate in-memory data to a virtual table, if it isn't too large."""
    attributes = node.trees("output")
    schema = _stored(attributes)  # refuses unsupported types before anything is computed
    if count is not None and count > production.max_rows:
        raise _too_many(f"{count:,} rows", attributes, production)
    records = _collected_once(node, production)
    if records.num_rows > production.max_rows:
        raise _too_many(f"more than {production.max_rows:,} rows", attributes, production)
    columns = [
        literals(records.column(position), type) for position, type in enumerate(schema.struct.types[: len(attributes)])
    ]
    rows: Iterable[Sequence[Literal]] = zip(*columns, strict=True) if columns else [()] * records.num_rows
    return Output(_table(schema, rows), tuple(map(column, attributes)))


def _stored(attributes: tuple[Node, ...]) -> NamedStruct:
    """Return the schema of the records. A column of untyped nulls becomes boolean: each use casts it."""
    return schema_of_fields(
        {
            "name": item.value("name"),
            "type": "boolean" if item.value("dataType") == "void" else item.value("dataType"),
            "nullable": item.value("nullable"),
        }
        for item in attributes
    )


def _too_many(rows: str, attributes: tuple[Node, ...], production: Production) -> UnsupportedPlanError:
    names = ", ".join(attribute.value("name") for attribute in attributes)
    return UnsupportedPlanError(
        f"the query has in-memory data ({names}) of {rows}, and a plan holds {production.max_rows:,} of one table",
        hint='Write it to a file or table, read it by name with tables={"name": dataframe}, or raise max_rows',
    )


def _collected_once(node: Node, production: Production) -> pa.Table:
    """Return the records of a node. An RDD is computed once, however often the query reads it."""
    key = node.java.rdd().id() if node.name == "LogicalRDD" else None
    found = production.collected.get(key) if key is not None else None
    if found is None:
        found = _collected(node, production)
        if key is not None:
            production.collected[key] = found
    return found


def _collected(node: Node, production: Production) -> pa.Table:
    """Collect the records of a node as Arrow data, up to one more than the limit."""
    from pyspark.sql import DataFrame

    session: Any = production.session
    dataset = java_package(session).Dataset.ofRows(session._jsparkSession, node.java)
    frame = DataFrame(dataset, session)
    attributes = node.trees("output")
    if not attributes:
        return _without_columns(frame.limit(production.max_rows + 1).count())
    frame = frame.toDF(*(f"_{number}" for number in range(len(attributes))))
    forms = {number: item.value("dataType") for number, item in enumerate(attributes)}
    if any(arrow_form(json) for json in forms.values()):
        frame = frame.selectExpr(*(_form(f"_{number}", json) for number, json in forms.items()))
    try:
        return collected(frame.limit(production.max_rows + 1))
    except spark_errors() as error:
        raise UnsupportedPlanError(f"Spark cannot return the in-memory data: {first_line(error)}") from error


def _without_columns(count: int) -> pa.Table:
    """Return a table of ``count`` records without columns."""
    import pyarrow as pa

    return pa.table({"_": pa.nulls(count)}).select([])


def _form(name: str, json: Any) -> str:
    """Return the expression that casts a column to a type that Arrow supports."""
    written, months = arrow_form(json), whole_months(json)
    whole = name if months is None else f"CAST({name} AS {months})"
    return whole if written is None else f"CAST({whole} AS {written}) AS {name}"


def numbers(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Range``: a virtual table of its numbers; a large range is computed from tables of digits."""
    attributes = node.trees("output")
    start, end, step = (int(node.value(part)) for part in ("start", "end", "step"))
    count = max(0, -((start - end) // step))
    schema = schema_of(attributes)
    columns = tuple(map(column, attributes))
    if count <= _RANGE:
        return Output(_table(schema, [[_i64(start + step * each)] for each in range(count)]), columns)
    if not -(2**63) <= (count - 1) * step < 2**63:
        raise UnsupportedPlanError(
            f"the range from {start} to {end} by {step} has no Substrait form: its numbers are too far apart",
            hint="Use a smaller range",
        )
    return Output(_computed(start, step, count, production), columns)


def _computed(start: int, step: int, count: int, production: Production) -> Relation:
    """Compute ``start + step * n`` for each n below a count, with n from the cross product of tables of digits."""
    digits, rest = [], count
    while rest > 1:
        digits.append(min(_RANGE, rest))
        rest = -(-rest // _RANGE)
    crossed: Relation = _digits(digits[0], 1)
    for place, base in enumerate(digits[1:], 1):
        crossed = Cross(left=crossed, right=_digits(base, _RANGE**place))
    total: Any = field_of(crossed.schema, 0)
    for position in range(1, len(digits)):
        total = production.call("functions_arithmetic", "add", (total, field_of(crossed.schema, position)), _EXACT)
    counted = projected(crossed, (total,))
    below = production.call("functions_comparison", "lt", (field_of(counted.schema, 0), _i64(count)))
    kept = Filter(input=counted, condition=below)
    scaled = production.call("functions_arithmetic", "multiply", (field_of(kept.schema, 0), _i64(step)), _EXACT)
    return projected(kept, (production.call("functions_arithmetic", "add", (scaled, _i64(start)), _EXACT),))


_EXACT: Final = {"overflow": "ERROR"}


def _digits(base: int, weight: int) -> Relation:
    schema = NamedStruct(names=("n",), struct=Struct(types=(I64(),)))
    return _table(schema, [[_i64(digit * weight)] for digit in range(base)])


def _i64(value: int) -> Literal:
    return Literal(type=I64(), value=value)


def _table(schema: NamedStruct, rows: Iterable[Sequence[Literal]]) -> Read:
    expressions = tuple(NestedStruct(fields=tuple(row)) for row in rows)
    return Read(base_schema=schema, read_type=VirtualTable(expressions=expressions))


FORMS: Final = {
    "OneRowRelation": one_row,
    "EmptyRelation": empty,
    "LocalRelation": local,
    "LogicalRDD": logical_rdd,
    "Range": numbers,
}
