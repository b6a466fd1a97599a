"""Apply the rules to a plan, to report their remarks or to fix the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pyspark_substrait.analysis.lint import RULES
from pyspark_substrait.analysis.lint.rule import Context, Remark, Rule, SlowPatterns
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Expression,
    FieldReference,
    OuterReference,
)
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.plan import ExtendedExpression, Plan, PlanRel, RelRoot
from pyspark_substrait.model.relations import (
    BrokenRelation,
    Cross,
    HashJoin,
    Join,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Read,
    Reference,
    Relation,
    Update,
)
from pyspark_substrait.model.relations.base import Names
from pyspark_substrait.model.types import OpenStruct, Struct
from pyspark_substrait.model.walk import (
    all_expressions,
    expression_children,
    expressions_within,
    relation_expressions,
    relations_within,
    subqueries,
    subquery_relation,
    with_children,
    with_expressions,
    with_inputs,
    with_query,
)

__all__ = ["FIX", "LintFinding", "fixed", "lint"]

_MOST_PASSES = 20
FIX = "`lint --fix` does it"
"""The text that is added to the advice of a finding that can be fixed."""

_Node = TypeVar("_Node", Expression, Relation)
# the nearest node that has a place, or a path; the text of a path is made only for a remark
_Near = Relation | Expression | str
_Document = TypeVar("_Document", bound=Plan | ExtendedExpression)


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A finding of a rule, and whether the rule has a fix for it."""

    finding: Finding
    fixable: bool


@dataclass(slots=True)
class _Pass:
    """One pass over a document.

    Args:
        context: what rules can look up.
        chosen: whether a rule is applied.
        places: the paths of nodes, for findings.
        changing: whether to replace nodes by what the rules suggest.
    """

    context: Context
    chosen: Callable[[Rule], bool]
    places: Places
    changing: bool
    findings: list[LintFinding] = field(default_factory=list)
    changed: bool = False
    trees: dict[int, tuple[Relation, Relation]] = field(default_factory=dict)

    def document(self, document: _Document) -> _Document:
        """Visit the relation trees of a plan, or the expressions of an extended expression."""
        made: Any = self._plan(document) if isinstance(document, Plan) else self._extended(document)
        found: _Document = made
        return found

    def _plan(self, plan: Plan) -> Plan:
        relations = tuple(self._root(item, f"relations[{number}]") for number, item in enumerate(plan.relations))
        return replace(plan, relations=relations) if self.changing else plan

    def _root(self, item: PlanRel, path: str) -> PlanRel:
        if isinstance(item, RelRoot):
            input = self.relation(item.input, f"{path}.root.input")
            return replace(item, input=input) if self.changing else item
        return self.relation(item, f"{path}.rel")

    def _extended(self, document: ExtendedExpression) -> ExtendedExpression:
        names = document.base_schema.top_level_names()
        referred = []
        for number, item in enumerate(document.referred_expr):
            expr = item.expr
            if not isinstance(expr, AggregateFunction):
                expr = self.expression(expr, names, f"referred_expr[{number}].expression")
            referred.append(replace(item, expr=expr))
        return replace(document, referred_expr=tuple(referred)) if self.changing else document

    def relation(self, node: Relation, path: _Near) -> Relation:
        """Visit a relation and all below it."""
        path = node if node in self.places else path
        if isinstance(node, BrokenRelation):
            for member in node.members:
                self.relation(member, path)
            return node
        names = _visible(node)
        if isinstance(node, Reference):
            return replace(node, subtree=self._tree(node.subtree, path)) if self.changing else node
        if not self.changing:
            for input in node.inputs:
                self.relation(input, path)
            for expression in relation_expressions(node):
                self.expression(expression, names, path)
            return self._settled(node, path, names, _same_schema)
        node = with_inputs(node, lambda input: self.relation(input, path))
        node = with_expressions(node, lambda expression: self.expression(expression, names, path))
        return self._settled(node, path, names, _same_schema)

    def _tree(self, tree: Relation, path: _Near) -> Relation:
        """Visit a shared tree once, so that it is the same wherever it is used."""
        known = self.trees.get(id(tree))
        if known is None:
            known = self.trees[id(tree)] = (tree, self.relation(tree, path))
        return known[1]

    def expression(self, node: Expression, names: Names, path: _Near) -> Expression:
        """Visit an expression and all inside it."""
        path = node if node in self.places else path
        query = subquery_relation(node)
        if not self.changing:
            for child in expression_children(node):
                self.expression(child, names, path)
            if query is not None:
                self.relation(query, path)
            return self._settled(node, path, names, _same_type)
        node = with_children(node, lambda child: self.expression(child, names, path))
        if query is not None:
            node = with_query(node, self.relation(query, path))
        return self._settled(node, path, names, _same_type)

    def _settled(self, node: _Node, path: _Near, names: Names, same: Callable[[Any, Any], bool]) -> _Node:
        context = replace(self.context, names=names)
        if not self.changing:
            for rule, remark in self._remarks(node, context):
                self.record(rule, remark, path, _fits(remark, node, same))
            return node
        for _ in range(_MOST_PASSES):
            for _, remark in self._remarks(node, context):
                if _fits(remark, node, same):
                    node, self.changed = remark.instead, True
                    break
            else:
                break
        return node

    def _remarks(self, node: Any, context: Context) -> Iterator[tuple[Rule, Remark]]:
        for rule in RULES.of(node):
            if self.chosen(rule):
                for remark in rule.check(node, context):
                    yield rule, remark

    def record(self, rule: Rule, remark: Remark, path: _Near, fixable: bool) -> None:
        """Record a remark as a finding."""
        near = remark.at if remark.at is not None and remark.at in self.places else path
        place = near if isinstance(near, str) else self.places.path(near) or ""
        fix = "; ".join(text for text in (remark.fix, FIX if fixable else "") if text)
        why = rule.explanation
        finding = Finding.of(rule.code, place, remark.what, level=remark.level, why=why, fix=fix)
        self.findings.append(LintFinding(finding, fixable))


def _fits(remark: Remark, node: Any, same: Callable[[Any, Any], bool]) -> bool:
    return remark.instead is not None and remark.instead != node and same(remark.instead, node)


def _same_type(one: Expression, other: Expression) -> bool:
    return bool(one.type == other.type)


def _same_schema(one: Relation, other: Relation) -> bool:
    return not isinstance(other.schema, OpenStruct) and _types(one.schema) == _types(other.schema)


def _types(schema: Struct) -> object:
    return schema.types


def _visible(node: Relation) -> Names:
    """Return the names of the columns that the expressions of a relation see."""
    match node:
        case Read():
            return node.base_schema.top_level_names()
        case Update(table_schema=schema):
            return schema.top_level_names()
        case Join() | LateralJoin() | HashJoin() | MergeJoin() | NestedLoopJoin() | Cross():
            return (*node.left.names, *node.right.names)
        case _:
            return tuple(name for input in node.inputs[:1] for name in input.names)


def _context(document: Plan | ExtendedExpression, registry: Registry, slow_patterns: SlowPatterns) -> Context:
    anchors = frozenset(_anchors(document))
    producer = document.version.producer
    return Context(registry=registry, slow_patterns=slow_patterns, producer=producer, anchors=anchors)


def _anchors(document: Plan | ExtendedExpression) -> Iterator[int]:
    """Return the anchors that outer references name, or may name if a relation is broken."""
    if isinstance(document, Plan):
        trees = document.trees
        expressions: Iterable[Expression] = ()
    else:
        given = [item.expr for item in document.referred_expr if not isinstance(item.expr, AggregateFunction)]
        trees = tuple(subqueries(given))
        expressions = expressions_within(given)
    for expression in (*expressions, *all_expressions(*trees)):
        match expression:
            case FieldReference(root=OuterReference(rel_reference=int(anchor))):
                yield anchor
    relations = [*relations_within(*trees)]
    if any(isinstance(relation, BrokenRelation) for relation in relations):
        yield from (item.common.rel_anchor for item in relations if item.common.rel_anchor is not None)


def lint(
    document: Plan | ExtendedExpression,
    places: Places,
    registry: Registry,
    slow_patterns: SlowPatterns,
    chosen: Callable[[Rule], bool],
) -> list[LintFinding]:
    """Return the findings of the rules for a document."""
    context = _context(document, registry, slow_patterns)
    lint_pass = _Pass(context=context, chosen=chosen, places=places, changing=False)
    lint_pass.document(document)
    for rule in filter(chosen, RULES.of_documents):
        for remark in rule.check(document, context):
            lint_pass.record(rule, remark, "", remark.instead is not None)
    return lint_pass.findings


def fixed(
    document: _Document, registry: Registry, slow_patterns: SlowPatterns, chosen: Callable[[Rule], bool]
) -> _Document:
    """Return the document with all safe fixes of the rules applied."""
    for _ in range(_MOST_PASSES):
        context = _context(document, registry, slow_patterns)
        lint_pass = _Pass(context=context, chosen=chosen, places=Places(), changing=True)
        document = lint_pass.document(document)
        for rule in filter(chosen, RULES.of_documents):
            for remark in rule.check(document, context):
                if remark.instead is not None and remark.instead != document:
                    document, lint_pass.changed = remark.instead, True
        if not lint_pass.changed:
            break
    return document
