"""The terms for the parts of a plan in dialect files. Spec: text/dialect_schema.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from typing_extensions import assert_never

from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import (
    BrokenExpression,
    Cast,
    DetachedExpression,
    DynamicParameter,
    ExecutionContextVariable,
    Expression,
    FailureBehavior,
    FieldReference,
    IfThen,
    InPredicate,
    Lambda,
    LambdaInvocation,
    MultiOrList,
    NamedLambdaReference,
    NestedList,
    NestedMap,
    NestedStruct,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    SwitchExpression,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.relations.generate import GENERATE
from pyspark_substrait.model.types import Type

__all__ = ["Term", "expression_term", "relation_terms", "type_term"]


@dataclass(frozen=True, slots=True)
class Term:
    """A term of dialect files.

    Args:
        name: the kind, like ``JOIN``.
        field: the list in the kind's entry that holds the value, like ``join_types``; empty for none.
        value: the item of that list, like ``LEFT_SEMI``; empty for none.
    """

    name: str
    field: str = ""
    value: str = ""


# relations ------------------------------------------------------------------------------------------------------------

_READS: Final[dict[type, str]] = {
    r.VirtualTable: "VIRTUAL_TABLE",
    r.LocalFiles: "LOCAL_FILES",
    r.NamedTable: "NAMED_TABLE",
    r.ExtensionTable: "EXTENSION_TABLE",
    r.IcebergTable: "ICEBERG_TABLE",
}
_EXCHANGES: Final[dict[type, str]] = {
    r.ScatterFields: "SCATTER_BY_FIELDS",
    r.SingleBucketExpression: "SINGLE_TARGET",
    r.MultiBucketExpression: "MULTI_TARGET",
    r.RoundRobin: "ROUND_ROBIN",
    r.Broadcast: "BROADCAST",
}


def relation_terms(node: Relation) -> tuple[Term, ...]:
    """Return the terms that a relation needs, all of them; none for a relation that is only a form of notation."""
    match node:
        case r.Read():
            return (Term(node.info.term, "read_types", _READS[type(node.read_type)]),)
        case r.Join() | r.LateralJoin() | r.HashJoin() | r.MergeJoin() | r.NestedLoopJoin():
            return (Term(node.info.term, "join_types", node.type.name),)
        case r.Set():
            return (Term(node.info.term, "operations", node.op.name),)
        case r.Write():
            named = isinstance(node.write_type, r.NamedObjectWrite)
            return (Term(node.info.term, "write_types", "NAMED_TABLE" if named else "EXTENSION_TABLE"),)
        case r.Ddl():
            named = isinstance(node.write_type, r.NamedObjectWrite)
            return (Term(node.info.term, "write_types", "NAMED_OBJECT" if named else "EXTENSION_OBJECT"),)
        case r.Exchange():
            return (Term(node.info.term, "kinds", _EXCHANGES[type(node.exchange_kind)]),)
        case r.Expand():
            kinds = {isinstance(field, r.SwitchingField) for field in node.fields}
            terms = ((True, "SWITCHING_FIELD"), (False, "CONSISTENT_FIELD"))
            return tuple(Term(node.info.term, "field_types", name) for kind, name in terms if kind in kinds)
        case r.Generate():
            return (Term(node.info.term, "message_types", GENERATE),)
        case r.ExtensionLeaf() | r.ExtensionSingle() | r.ExtensionMulti():
            type_url = "" if node.detail is None else node.detail.type_url
            return (Term(node.info.term, "message_types", type_url),)
        case _:
            return (Term(node.info.term),) if node.info.term else ()


# expressions ----------------------------------------------------------------------------------------------------------


def expression_term(node: Expression) -> Term | None:
    """Return the term for an expression; None for one that is only a form of notation."""
    match node:
        case Literal():
            return Term("LITERAL")
        case FieldReference():
            return Term("SELECTION")
        case ScalarFunction():
            return Term("SCALAR_FUNCTION")
        case WindowFunction():
            return Term("WINDOW_FUNCTION")
        case IfThen():
            return Term("IF_THEN")
        case SwitchExpression():
            return Term("SWITCH")
        case SingularOrList():
            return Term("SINGULAR_OR_LIST")
        case MultiOrList():
            return Term("MULTI_OR_LIST")
        case Cast(failure_behavior=FailureBehavior.UNSPECIFIED):
            return Term("CAST")
        case Cast(failure_behavior=behavior):
            return Term("CAST", "failure_options", behavior.name)
        case ScalarSubquery():
            return Term("SUBQUERY", "subquery_types", "SCALAR")
        case InPredicate():
            return Term("SUBQUERY", "subquery_types", "IN_PREDICATE")
        case SetPredicate():
            return Term("SUBQUERY", "subquery_types", "SET_PREDICATE")
        case SetComparison():
            return Term("SUBQUERY", "subquery_types", "SET_COMPARISON")
        case NestedStruct():
            return Term("NESTED", "nested_types", "STRUCT")
        case NestedList():
            return Term("NESTED", "nested_types", "LIST")
        case NestedMap():
            return Term("NESTED", "nested_types", "MAP")
        case DynamicParameter():
            return Term("DYNAMIC_PARAMETER")
        case Lambda():
            return Term("LAMBDA")
        case LambdaInvocation():
            return Term("LAMBDA_INVOCATION")
        case ExecutionContextVariable(variable=variable):
            return Term("EXECUTION_CONTEXT_VARIABLE", "variable_types", variable.name)
        case NamedLambdaReference():
            return Term("NAMED_LAMBDA_REFERENCE")
        case DetachedExpression() | BrokenExpression():
            return None
        case _:
            assert_never(node)


# types ----------------------------------------------------------------------------------------------------------------

_TYPES: Final[dict[type, str]] = {
    t.Boolean: "BOOL",
    t.I8: "I8",
    t.I16: "I16",
    t.I32: "I32",
    t.I64: "I64",
    t.FP32: "FP32",
    t.FP64: "FP64",
    t.Binary: "BINARY",
    t.FixedBinary: "FIXED_BINARY",
    t.String: "STRING",
    t.VarChar: "VARCHAR",
    t.FixedChar: "FIXED_CHAR",
    t.PrecisionTime: "PRECISION_TIME",
    t.PrecisionTimestamp: "PRECISION_TIMESTAMP",
    t.PrecisionTimestampTZ: "PRECISION_TIMESTAMP_TZ",
    t.Date: "DATE",
    t.IntervalCompound: "INTERVAL_COMPOUND",
    t.IntervalDay: "INTERVAL_DAY",
    t.IntervalYear: "INTERVAL_YEAR",
    t.UUID: "UUID",
    t.Unbound: "UNBOUND",
    t.Decimal: "DECIMAL",
    t.Struct: "STRUCT",
    t.OpenStruct: "STRUCT",
    t.List: "LIST",
    t.Map: "MAP",
    t.Func: "FUNC",
    t.UserDefined: "USER_DEFINED",
}


def type_term(type: Type) -> str:
    """Return the term for a type; for an alias, that of the aliased type."""
    return _TYPES[t.concrete(type).__class__]
