"""Statements with several records of parameters: each is a run of its own, one after the other, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from pyspark_substrait.errors import LostSparkError, SubstraitError
from pyspark_substrait.server.refusals import InvalidArgument, Unimplemented, refusal
from pyspark_substrait.server.requests import Rows
from pyspark_substrait.spark.batches import cast_batches

if TYPE_CHECKING:
    from pyspark_substrait.server.requests import Request
    from pyspark_substrait.server.statements import Statement

__all__ = ["changed_by_each_record", "of_each_record"]


def of_each_record(statement: Statement, values: pa.RecordBatch | None) -> Rows:
    """Return the rows of a statement for the first record of values, then those for the second, and so on.

    Raises:
        Unimplemented: it changes something, and there are several records.
        SubstraitError: it can't run.
    """
    if values is None or values.num_rows <= 1:
        return statement.analysed(values)
    if statement.changes:
        raise Unimplemented("a statement that changes something takes several records of parameters as an update only")
    first = statement.analysed(values.slice(0, 1))
    schema = _without_nullability(first.schema)

    def batches() -> Iterator[pa.RecordBatch]:
        yield from first.batches()
        for number in range(1, values.num_rows):
            rows = statement.analysed(values.slice(number, 1))
            if not _without_nullability(rows.schema).equals(schema):
                raise InvalidArgument(
                    f"the rows for the record {number + 1} of the parameters have other types than those for the "
                    f"first: {_worded(rows.schema)}, not {_worded(first.schema)}"
                )
            yield from rows.batches()

    return Rows(schema, lambda: cast_batches(batches(), schema))


def changed_by_each_record(statement: Statement, values: pa.RecordBatch | None, request: Request) -> int:
    """Carry out a statement for each record of values, and return the sum of the changed records; -1 if unknown.

    Raises:
        Exception: one of ``refusals``; after the first record, its message says how many were carried out.
    """
    if values is None or values.num_rows <= 1:
        return statement.changed(values)
    counts: list[int] = []
    for number in range(values.num_rows):
        if request.reason is not None:
            raise request.reason
        try:
            counts.append(statement.changed(values.slice(number, 1)))
        except LostSparkError as error:
            raise LostSparkError(f"{error.message}; {number} records of parameters were carried out before") from error
        except SubstraitError as error:
            known = refusal(error)
            if not number or known is None:
                raise
            before = f"The records of parameters before this one, {number}, were carried out"
            raise type(known)(f"{known}. {before}") from None
    return -1 if min(counts) < 0 else sum(counts)


def _without_nullability(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in schema])


def _worded(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)
