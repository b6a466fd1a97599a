"""Rules about calls of functions in general."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark_substrait.analysis.lint.expression_match import worded
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.expressions import (
    BoundsType,
    FunctionOption,
    ScalarFunction,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import ConsistentPartitionWindow

__all__: list[str] = []


def _distinct(options: tuple[FunctionOption, ...]) -> tuple[FunctionOption, ...]:
    return tuple(replace(option, preference=tuple(dict.fromkeys(option.preference))) for option in options)


@rule(Code.LINT_REPEATED_PREFERENCE, ScalarFunction, WindowFunction, fixes=True)
def repeated_preference(node: ScalarFunction | WindowFunction, context: Context) -> Iterator[Remark]:
    """An option lists the accepted values in order of preference. A repeated value has no effect."""
    options = _distinct(node.options)
    if options != node.options:
        what = f"an option of {node.function.name} lists a value twice"
        yield Remark(what=what, instead=replace(node, options=options))


@rule(Code.LINT_OPTION_WITHOUT_CHOICE, ScalarFunction, WindowFunction)
def option_without_choice(node: ScalarFunction | WindowFunction, context: Context) -> Iterator[Remark]:
    """An option that lists all its values restricts nothing, as if it were absent."""
    definition = context.registry.function(node.function.urn, node.function.key)
    known = dict(definition.options) if definition is not None else {}
    for option in node.options:
        if set(option.preference) == set(known.get(option.name, ())):
            what = f"the option {option.name} of {node.function.name} allows every possible value"
            yield Remark(what=what, fix="Leave it out, unless the order of the values matters")


@rule(Code.PROTO_UNSPECIFIED_ENUM, WindowFunction, ConsistentPartitionWindow, fixes=True)
def missing_bounds_type(node: WindowFunction | ConsistentPartitionWindow, context: Context) -> Iterator[Remark]:
    """Producers must state whether the bounds of a window count rows or compare values. Without a bound on either side
    both mean the same, and rows is simpler."""
    if isinstance(node, WindowFunction):
        if node.bounds_type is None and node.lower_bound == node.upper_bound == Unbounded():
            what = f"the window of {node.function.name} has no bounds type"
            yield Remark(what=what, instead=replace(node, bounds_type=BoundsType.ROWS), level=Level.WARNING)
        return
    for number, item in enumerate(node.window_functions):
        if item.bounds_type is None and item.lower_bound == item.upper_bound == Unbounded():
            functions = [*node.window_functions]
            functions[number] = replace(item, bounds_type=BoundsType.ROWS)
            instead = replace(node, window_functions=tuple(functions))
            what = f"the window of {item.function.name} has no bounds type"
            yield Remark(what=what, at=item, instead=instead, level=Level.WARNING)


@rule(Code.LINT_CONSTANT_PARTITION, WindowFunction, fixes=True)
def constant_partition(node: WindowFunction, context: Context) -> Iterator[Remark]:
    """A literal is the same for all records, so that a partition by it has no effect."""
    kept = tuple(item for item in node.partitions if not isinstance(item, Literal))
    if kept != node.partitions:
        what = f"the window of {node.function.name} is partitioned by a literal"
        yield Remark(what=what, instead=replace(node, partitions=kept))


@rule(Code.LINT_NOT_PORTABLE, ScalarFunction, WindowFunction)
def not_portable(node: ScalarFunction | WindowFunction, context: Context) -> Iterator[Remark]:
    """A function that is in no extension of the specification is only known to engines that were given its
    definition."""
    urn = node.function.urn
    if not urn.startswith("extension:io.substrait:"):
        what = f"{worded(node, context.names)} calls {node.function.key} of {urn or 'no extension'}"
        yield Remark(what=what, fix="Look for a function of the specification's extensions that does the same")


@rule(Code.LINT_SLOW_PATTERN, ScalarFunction)
def slow_pattern(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """A pattern that can match a text in very many ways, like `(a+)+b` or `(.*,){15}X`, may take hours for a text of
    some hundred characters that it does not match: backtracking engines such as Java's try all of them, and cannot be
    interrupted meanwhile. Only patterns that are literals are checked."""
    for pattern, reason in context.slow_patterns(node):
        what = f"the pattern {pattern!r} of {node.function.name} may take very long: {reason}"
        yield Remark(what=what, fix="Write what is repeated so that it can match a text in one way only")
