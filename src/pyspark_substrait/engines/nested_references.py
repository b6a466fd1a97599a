"""References into structs, lists and maps, as calls of functions: for engines whose references are columns only.

Such an engine finds the field of a struct by its name. Plans name fields in the schemas of tables only; where the
engine makes a struct itself, it calls them c0, c1 and so on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark_substrait.engines.constructors import is_known
from pyspark_substrait.engines.description import Target
from pyspark_substrait.engines.inner_joins import conjunction
from pyspark_substrait.engines.places import located
from pyspark_substrait.engines.struct_names import StructNames
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    Function,
    IfClause,
    IfThen,
    Lambda,
    LambdaParameterReference,
    ListElement,
    MapKey,
    OuterReference,
    ReferenceSegment,
    RootReference,
    ScalarFunction,
    StructField,
    referenced_type,
)
from pyspark_substrait.model.fields import Over
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.relations import Read, Reference, Relation
from pyspark_substrait.model.types import FP32, FP64, I64, String, Struct, Type, concrete
from pyspark_substrait.model.walk import (
    all_expressions,
    mapped,
    placed_expressions,
    with_children,
    with_expressions,
)

__all__ = ["with_calls"]

_HINT = "Make the plan without a target, or select the field in a query of its own"


def with_calls(tree: Relation, names: StructNames, target: Target, places: Places | None = None) -> Relation:
    """Return a tree with calls of the engine's functions in place of references into a value.

    Args:
        tree: the tree.
        names: the names of the fields of its structs.
        target: the engine.
        places: the paths of the plan's nodes, for an error; None if they aren't known.

    Raises:
        UnsupportedPlanError: the name of a field isn't known, or a reference has no such form.
    """
    if not any(_steps(node) for node in all_expressions(tree)):
        return tree
    (made,) = mapped(tree, change=_Calls(names, target, places).relation)
    return made


def _steps(node: Expression) -> tuple[ReferenceSegment, ...]:
    """Return the steps of a reference into a value: of a column's, all but the first."""
    if not isinstance(node, FieldReference) or isinstance(node.reference, MaskExpression):
        return ()
    of_record = isinstance(node.root, RootReference | OuterReference | LambdaParameterReference)
    return node.reference[1:] if of_record else node.reference


@dataclass(eq=False)
class _Calls:
    """The calls for the references of a tree."""

    names: StructNames
    target: Target
    places: Places | None
    #: the parameters of the lambdas around an expression, the nearest last
    lambdas: list[Struct] = field(default_factory=list)

    def relation(self, node: Relation) -> Relation:
        """Return a relation with calls in its own expressions."""
        if isinstance(node, Reference):
            return node
        over = {id(expression): place for expression, place in placed_expressions(node)}
        return with_expressions(node, lambda one: self._expression(one, _record(node, over[id(one)])))

    def _expression(self, node: Expression, record: tuple[Type, ...] | None) -> Expression:
        with located(node, self.places):
            return self._without_steps(node, record)

    def _without_steps(self, node: Expression, record: tuple[Type, ...] | None) -> Expression:
        if isinstance(node, Lambda):
            self.lambdas.append(node.parameters)
        node = with_children(node, lambda child: self._expression(child, record))
        if isinstance(node, Lambda):
            self.lambdas.pop()
        steps = _steps(node)
        if not steps:
            return node
        assert isinstance(node, FieldReference)
        assert isinstance(node.reference, tuple)
        match node.root, node.reference[0]:
            case RootReference(), StructField(field=position) if record is not None:
                value: Expression = FieldReference(root=node.root, reference=node.reference[:1], type=record[position])
            case LambdaParameterReference(steps_out=out), StructField(field=position) if out < len(
                self.lambdas
            ) and not any(isinstance(step, StructField) for step in steps):
                type = self.lambdas[-1 - out].types[position]
                value = FieldReference(root=node.root, reference=node.reference[:1], type=type)
            case RootReference() | OuterReference() | LambdaParameterReference(), _:
                raise UnsupportedPlanError(
                    f"{self.target.engine} takes references to columns only, here it is one into a column", hint=_HINT
                )
            case _:
                assert not isinstance(node.root, RootReference | OuterReference | LambdaParameterReference)
                value = node.root
        return self._stepped(value, steps)

    def _stepped(self, value: Expression, steps: tuple[ReferenceSegment, ...]) -> Expression:
        """Return the value that steps lead to. A field of a null is null, whatever the engine stores there."""
        known: list[Expression] = []
        for step in steps:
            here = concrete(value.type)
            type = referenced_type(value.type, (step,))
            match step:
                case StructField(field=position):
                    assert isinstance(here, Struct)
                    if here.nullable:
                        known.append(is_known(value))
                    key: Expression = Literal(type=String(), value=self._name(here, position))
                    function = "get_field", "struct_str"
                case ListElement(offset=offset):
                    key = Literal(type=I64(), value=offset + 1 if offset >= 0 else offset)
                    function = "array_element", "list_i64"
                case MapKey(map_key=key):
                    if isinstance(concrete(key.type), FP32 | FP64):
                        raise UnsupportedPlanError(f"{self.target.engine} compares such keys of maps by their bits")
                    function = "get_field", "map_any"
            value = ScalarFunction(
                function=Function(self.target.extension, *function),
                arguments=(value, key),
                output_type=type,
                derived_type=type,
            )
        # a literal null of a struct would have other names for its fields
        return IfThen(ifs=(IfClause(conjunction(known), value),)) if known else value

    def _name(self, struct: Struct, position: int) -> str:
        """Return the name that the engine has for a field.

        Raises:
            UnsupportedPlanError: structs of this type have several names there, or a function made them.
        """
        found = {names[position] for names in self.names.of(struct)}
        if len(found) != 1:
            fault = (
                f"{self.target.engine} finds fields by their names; that of field {position} of {struct} isn't known"
            )
            raise UnsupportedPlanError(fault, hint=_HINT)
        return found.pop()


def _record(node: Relation, over: Over) -> tuple[Type, ...] | None:
    """Return the columns of the record that an expression of a relation is computed over; None if they aren't known."""
    match over:
        case Over.INPUT:
            return tuple(type for input in node.inputs for type in input.schema.types)
        case Over.LEFT:
            return node.inputs[0].schema.types
        case Over.RIGHT:
            return node.inputs[1].schema.types
        case Over.OUTPUT:
            return node.direct_schema.types
        case Over.TABLE if isinstance(node, Read):
            return node.base_schema.struct.types
        case Over.TABLE | Over.NOTHING:
            return None
