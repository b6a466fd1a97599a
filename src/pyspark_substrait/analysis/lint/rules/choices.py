"""Rules about choices and lists of options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from pyspark_substrait.analysis.lint.expression_match import (
    COMPARISON,
    arguments,
    called,
    deterministic,
    has_floats,
    is_constant,
    worded,
)
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import (
    Function,
    IfThen,
    IfValue,
    MultiOrList,
    ScalarFunction,
    SingularOrList,
    SwitchExpression,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Boolean, same_type

__all__: list[str] = []

_Item = TypeVar("_Item")


@rule(Code.LINT_DEAD_BRANCH, IfThen, fixes=True)
def dead_branch(node: IfThen, context: Context) -> Iterator[Remark]:
    """A branch whose condition is false or null is never taken, and no branch after one whose condition is true. The
    condition is a literal here; something else may have been meant."""
    kept = []
    decided = False
    for clause in node.ifs:
        if is_constant(clause.if_, False) or is_constant(clause.if_, None):
            continue
        kept.append(clause)
        if is_constant(clause.if_, True):
            decided = True
            break
    if len(kept) == len(node.ifs) and not decided:
        return
    otherwise = node.else_
    if decided:
        otherwise = kept.pop().then
    instead = replace(node, ifs=tuple(kept), else_=otherwise) if kept else otherwise
    yield Remark(what="the condition of a branch is a constant, so that branches are never taken", instead=instead)


@rule(Code.LINT_SAME_BRANCHES, IfThen, SwitchExpression)
def same_branches(node: IfThen | SwitchExpression, context: Context) -> Iterator[Remark]:
    """A choice whose branches are all equal chooses nothing."""
    results = [clause.then for clause in node.ifs]
    if (
        node.else_ is not None
        and all(result == node.else_ for result in results)
        and deterministic(node.else_, context)
    ):
        yield Remark(what=f"all branches give {worded(node.else_, context.names)}", fix="Write that alone")


@rule(Code.LINT_REPEATED_CASE, SwitchExpression, fixes=True)
def repeated_case(node: SwitchExpression, context: Context) -> Iterator[Remark]:
    """The first case with a value is taken; a later one with the same value never is."""
    kept: dict[Literal, IfValue] = {}
    for clause in node.ifs:
        kept.setdefault(clause.if_, clause)
    if len(kept) < len(node.ifs):
        yield Remark(
            what=f"{len(node.ifs) - len(kept)} of the cases have a value that an earlier one has",
            instead=replace(node, ifs=tuple(kept.values())),
        )


@rule(Code.LINT_REPEATED_OPTION, SingularOrList, MultiOrList, fixes=True)
def repeated_option(node: SingularOrList | MultiOrList, context: Context) -> Iterator[Remark]:
    """A repeated option of an or-list has no effect."""
    count = len(node.options)
    instead: SingularOrList | MultiOrList
    if isinstance(node, SingularOrList):
        instead = replace(node, options=_once(node.options, lambda item: deterministic(item, context)))
    else:
        certain = _once(node.options, lambda row: all(deterministic(item, context) for item in row))
        instead = replace(node, options=certain)
    repeated = count - len(instead.options)
    if repeated:
        what = f"{repeated} of the {count} options {'stands' if repeated == 1 else 'stand'} in the list already"
        yield Remark(what=what, instead=instead)


def _once(items: tuple[_Item, ...], certain: Callable[[_Item], bool]) -> tuple[_Item, ...]:
    """Return the items without repetitions of those that are certain."""
    kept: list[_Item] = []
    for item in items:
        if item not in kept or not certain(item):
            kept.append(item)
    return tuple(kept)


@rule(Code.LINT_SINGLE_OPTION, SingularOrList, fixes=True)
def single_option(node: SingularOrList, context: Context) -> Iterator[Remark]:
    """An or-list with one option is an equality."""
    if len(node.options) != 1:
        return
    (option,) = node.options
    call = None
    if same_type(option.type, node.value.type) and not has_floats(option.type):
        type = Boolean(nullable=option.type.nullable or node.value.type.nullable)
        function = Function(COMPARISON, "equal", "any_any")
        call = ScalarFunction(function=function, arguments=(node.value, option), output_type=type, derived_type=type)
    what = f"{worded(node.value, context.names)} is compared with a list of one option"
    yield Remark(what=what, fix="Call equal", instead=call)


@rule(Code.LINT_COALESCE_OF_REQUIRED, ScalarFunction, fixes=True)
def coalesce_of_required(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """`coalesce` takes the first value that is not null; arguments after one of a required type are never used."""
    if not called(node, COMPARISON, "coalesce"):
        return
    items = arguments(node)
    first = next((number for number, item in enumerate(items) if not item.type.nullable), len(items))
    if first < len(items) - 1 or len(items) == 1:
        kept = items[: first + 1]
        instead = kept[0] if len(kept) == 1 else replace(node, arguments=kept)
        if len(items) == 1:
            what = f"coalesce has one argument, {worded(items[0], context.names)}"
        else:
            what = f"coalesce ignores what follows {worded(items[first], context.names)}, which is never null"
        yield Remark(what=what, instead=instead)
