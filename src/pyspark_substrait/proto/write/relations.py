"""Relations into ``Rel`` messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from substrait import algebra_pb2
from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import relations as nodes
from pyspark_substrait.model.relations import Relation, RelCommon
from pyspark_substrait.proto import generates
from pyspark_substrait.proto.enums import FETCH_MODE, SET_OP
from pyspark_substrait.proto.write import expressions, functions, joins, physical, reads, writing
from pyspark_substrait.proto.write.base import advanced_extension, common
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.literals import any_message

__all__ = ["relation"]


def relation(node: Relation, into: Any, parts: Parts) -> None:
    """Write a relation and all below it."""
    match node:
        case nodes.Read():
            reads.read(node, into.read, parts)
        case nodes.Filter():
            common(node.common, into.filter.common)
            relation(node.input, into.filter.input, parts)
            expressions.expression(node.condition, into.filter.condition, parts)
            advanced_extension(node.advanced_extension, into.filter)
        case nodes.Fetch():
            common(node.common, into.fetch.common)
            relation(node.input, into.fetch.input, parts)
            expressions.optional_expression(node.offset_expr, into.fetch, "offset_expr", parts)
            expressions.optional_expression(node.count_expr, into.fetch, "count_expr", parts)
            advanced_extension(node.advanced_extension, into.fetch)
        case nodes.Aggregate():
            _aggregate(node, into.aggregate, parts)
        case nodes.Sort():
            common(node.common, into.sort.common)
            relation(node.input, into.sort.input, parts)
            functions.sort_fields(node.sorts, into.sort.sorts, parts)
            advanced_extension(node.advanced_extension, into.sort)
        case nodes.Join():
            joins.join(node, into.join, parts)
        case nodes.LateralJoin():
            joins.lateral_join(node, into.lateral_join, parts)
        case nodes.Project():
            common(node.common, into.project.common)
            relation(node.input, into.project.input, parts)
            expressions.expressions(node.expressions, into.project.expressions, parts)
            advanced_extension(node.advanced_extension, into.project)
        case nodes.Set():
            common(node.common, into.set.common)
            _inputs(node.members, into.set.inputs, parts)
            into.set.op = SET_OP.numbers[node.op]
            advanced_extension(node.advanced_extension, into.set)
        case nodes.ExtensionSingle():
            common(node.common, into.extension_single.common)
            relation(node.input, into.extension_single.input, parts)
            if node.generator is not None:
                into.extension_single.detail.CopyFrom(generates.encoded(node.generator))
            elif node.detail is not None:
                any_message(node.detail, into.extension_single.detail)
        case nodes.ExtensionMulti():
            common(node.common, into.extension_multi.common)
            _inputs(node.members, into.extension_multi.inputs, parts)
            if node.detail is not None:
                any_message(node.detail, into.extension_multi.detail)
        case nodes.ExtensionLeaf():
            common(node.common, into.extension_leaf.common)
            if node.detail is not None:
                any_message(node.detail, into.extension_leaf.detail)
        case nodes.Cross():
            joins.cross(node, into.cross, parts)
        case nodes.Reference():
            _without_common(node.common, "a reference")
            if not 0 <= node.subtree_ordinal < parts.declarations.trees:
                raise InvalidPlanError(f"there is no relation tree {node.subtree_ordinal} to refer to")
            into.reference.SetInParent()
            into.reference.subtree_ordinal = node.subtree_ordinal
        case nodes.Write():
            writing.write(node, into.write, parts)
        case nodes.Ddl():
            writing.ddl(node, into.ddl, parts)
        case nodes.Update():
            writing.update(node, into.update, parts)
        case nodes.HashJoin():
            joins.hash_join(node, into.hash_join, parts)
        case nodes.MergeJoin():
            joins.merge_join(node, into.merge_join, parts)
        case nodes.NestedLoopJoin():
            joins.nested_loop_join(node, into.nested_loop_join, parts)
        case nodes.ConsistentPartitionWindow():
            physical.window(node, into.window, parts)
        case nodes.Exchange():
            physical.exchange(node, into.exchange, parts)
        case nodes.Expand():
            physical.expand(node, into.expand, parts)
        case nodes.TopN():
            common(node.common, into.top_n.common)
            relation(node.input, into.top_n.input, parts)
            functions.sort_fields(node.sorts, into.top_n.sorts, parts)
            expressions.optional_expression(node.offset, into.top_n, "offset", parts)
            expressions.optional_expression(node.count, into.top_n, "count", parts)
            into.top_n.mode = FETCH_MODE.numbers[node.mode]
            advanced_extension(node.advanced_extension, into.top_n)
        case nodes.DetachedRel():
            _without_common(node.common, "a detached relation")
            into.detached_rel_ordinal = _detached(node.relation, parts)
        case nodes.BrokenRelation():
            raise InvalidPlanError(f"a relation that can't be understood can't be written: {node.fault}")
        case _:
            assert_never(node)


def _inputs(members: Iterable[Relation], into: Any, parts: Parts) -> None:
    for member in members:
        relation(member, into.add(), parts)


def _without_common(shared: RelCommon, what: str) -> None:
    if shared != RelCommon():
        raise InvalidPlanError(f"{what} has no common part", hint="Put emit and hints on the relation that it means")


def _aggregate(node: nodes.Aggregate, into: Any, parts: Parts) -> None:
    common(node.common, into.common)
    relation(node.input, into.input, parts)
    expressions.expressions(node.grouping_expressions, into.grouping_expressions, parts)
    for grouping in node.groupings:
        into.groupings.add(expression_references=grouping.expression_references)
    for measure in node.measures:
        item = into.measures.add()
        functions.aggregate_function(measure.measure, item.measure, parts)
        expressions.optional_expression(measure.filter, item, "filter", parts)
    advanced_extension(node.advanced_extension, into)


def _detached(node: Relation, parts: Parts) -> int:
    known = parts.known.get(id(node))
    if known is not None:
        return known
    message = algebra_pb2.Rel()
    relation(node, message, parts)
    return parts.keep("relation", node, message, parts.rels)
