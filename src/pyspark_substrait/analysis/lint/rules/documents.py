"""Rules about a document as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.analysis.lint.column_usage import unused_columns
from pyspark_substrait.analysis.lint.expression_match import column
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code
from pyspark_substrait.model.plan import ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.relations import NamedTable
from pyspark_substrait.model.repeats import repeats

__all__: list[str] = []


@rule(Code.LINT_REPEATED_NAMES, Plan)
def repeated_names(node: Plan | ExtendedExpression, context: Context) -> Iterator[Remark]:
    """Result columns with the same name cannot be distinguished by it, and many tables cannot have such columns."""
    if not isinstance(node, Plan):
        return
    for number, item in enumerate(node.relations):
        if not isinstance(item, RelRoot):
            continue
        names = item.names if len(item.names) == len(item.input.schema.types) else ()
        repeated = sorted({names[number] for number, _ in repeats(names)})
        if repeated:
            listed = ", ".join(repeated)
            yield Remark(what=f"root {number} has several columns called {listed}", fix="Name them apart")


@rule(Code.LINT_UNUSED_COLUMNS, Plan)
def unused_columns_of_reads(node: Plan | ExtendedExpression, context: Context) -> Iterator[Remark]:
    """A read outputs columns that nothing above uses. Many engines leave them out by themselves; for the others, a
    projection mask of the read saves the work."""
    if not isinstance(node, Plan):
        return
    for read, unused in unused_columns(node):
        names = ", ".join(column(number, read.names) for number in sorted(unused))
        source = ".".join(read.read_type.names) if isinstance(read.read_type, NamedTable) else "a table"
        verb = "is" if len(unused) == 1 else "are"
        what = f"of {source}, {names} {verb} read and never used"
        yield Remark(what=what, fix="Leave them out with a projection mask", at=read)
