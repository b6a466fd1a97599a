"""Plans and extended expressions, which hold all the other samples."""

from __future__ import annotations

from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.plan import (
    DynamicParameterBinding,
    ExpressionReference,
    ExtendedExpression,
    ExtensionDeclaration,
    ExtensionKind,
    Plan,
    RelRoot,
    VariableEvaluationMode,
    Version,
)
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import NamedStruct, OpenStruct, Struct, Type, name_count
from tests.samples.expressions import (
    EXPRESSIONS,
    FLAG,
    ID,
    NAMED_INCREMENT,
    NAMED_TWICE,
    SCHEMA,
    add,
    column,
    equal,
    sum_of_amounts,
    table,
)
from tests.samples.literals import i32
from tests.samples.relations import EXTENSION, RELATIONS, SMALL, outer
from tests.samples.types import ALIASED, ALIASED_POINT, TYPES, URN

VERSION = Version(major_number=0, minor_number=108, patch_number=0, producer="samples")


def plan(*relations: Relation | RelRoot, **parts: object) -> Plan:
    """A plan with all that the samples need around them."""
    return Plan(
        relations=relations,
        version=VERSION,
        type_aliases=(ALIASED, ALIASED_POINT),
        named_lambdas=(NAMED_INCREMENT, NAMED_TWICE),
        **parts,  # type: ignore[arg-type]
    )


def rooted(relation: Relation) -> RelRoot:
    """The relation as a result, with names."""
    schema = relation.schema
    count = 2 if isinstance(schema, OpenStruct) else name_count(schema)
    return RelRoot(input=relation, names=tuple(f"c{number}" for number in range(count)))


def _typed(type: Type) -> Relation:
    struct = Struct(types=(type,))
    names = tuple(f"c{number}" for number in range(name_count(struct)))
    return r.Read(base_schema=NamedStruct(names=names, struct=struct), read_type=r.NamedTable(names=("t",)))


def _expression(node: e.Expression) -> Relation:
    return r.Project(input=table(), expressions=(node,))


_SHARED = r.Filter(input=SMALL, condition=equal(column(0, SMALL.schema.types), i32(1)))
#: a shared relation that refers to a relation around each of its uses
_CORRELATED = r.Filter(input=SMALL, condition=equal(column(0, SMALL.schema.types), outer(7, 0)))

PLANS: dict[str, Plan] = {
    **{f"type {name}": plan(rooted(_typed(type))) for name, type in TYPES.items()},
    **{f"expression {name}": plan(rooted(_expression(node))) for name, node in EXPRESSIONS.items()},
    **{f"relation {name}": plan(rooted(node)) for name, node in RELATIONS.items()},
    "reference": plan(
        _SHARED,
        rooted(
            r.Cross(
                left=r.Reference(subtree_ordinal=0, subtree=_SHARED),
                right=r.Reference(subtree_ordinal=2, subtree=SMALL),
            )
        ),
        rooted(SMALL),
    ),
    "reference to a correlated relation": plan(
        _CORRELATED,
        rooted(
            r.Filter(
                common=r.RelCommon(rel_anchor=7),
                input=SMALL,
                condition=e.SetPredicate(
                    predicate_op=e.PredicateOp.EXISTS, tuples=r.Reference(subtree_ordinal=0, subtree=_CORRELATED)
                ),
            )
        ),
    ),
    "detached parts": plan(
        rooted(
            r.Cross(
                left=r.DetachedRel(
                    relation=r.Filter(
                        input=table(), condition=e.DetachedExpression(expression=e.DetachedExpression(expression=FLAG))
                    )
                ),
                right=r.Filter(input=table("returns"), condition=e.DetachedExpression(expression=FLAG)),
            )
        ),
        r.DetachedRel(relation=SMALL),
    ),
    "everything at the top": Plan(
        relations=(rooted(_expression(e.DynamicParameter(type=t.I32(), parameter_reference=4))),),
        version=Version(
            major_number=1,
            minor_number=109,
            patch_number=3,
            git_hash="0123456789abcdef" * 2 + "01234567",
            producer="me",
        ),
        unused_extensions=(
            ExtensionDeclaration("extension:io.substrait:functions_arithmetic", ExtensionKind.FUNCTION, "add:i8_i8"),
            ExtensionDeclaration(URN, ExtensionKind.TYPE, "point"),
            ExtensionDeclaration(URN, ExtensionKind.TYPE_VARIATION, "sparse"),
        ),
        unused_urns=("extension:org.example:nothing",),
        advanced_extensions=EXTENSION,
        expected_type_urls=("type.googleapis.com/org.example.Message",),
        parameter_bindings=(DynamicParameterBinding(parameter_anchor=4, value=i32(12)),),
        type_aliases=(ALIASED, t.Struct(types=(t.AliasedType(type=ALIASED),))),
        execution_behavior=VariableEvaluationMode.PER_RECORD,
        named_lambdas=(NAMED_TWICE, NAMED_INCREMENT),
    ),
    "nothing": Plan(relations=(), version=VERSION),
}

EXTENDED_EXPRESSIONS: dict[str, ExtendedExpression] = {
    "expressions": ExtendedExpression(
        referred_expr=(
            ExpressionReference(expr=add(ID, i32(1)), output_names=("next",)),
            ExpressionReference(expr=sum_of_amounts(), output_names=("total",)),
        ),
        base_schema=SCHEMA,
        version=VERSION,
    ),
    "everything at the top": ExtendedExpression(
        referred_expr=(
            ExpressionReference(
                expr=e.DetachedExpression(
                    expression=e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=r.DetachedRel(relation=SMALL))
                ),
                output_names=("some",),
            ),
        ),
        base_schema=SCHEMA,
        version=VERSION,
        unused_extensions=(ExtensionDeclaration(URN, ExtensionKind.FUNCTION, "f"),),
        unused_urns=("extension:org.example:nothing",),
        advanced_extensions=EXTENSION,
        expected_type_urls=("type.googleapis.com/org.example.Message",),
    ),
}
