"""References into structs, lists and maps, as calls of functions: for engines whose references are columns only.

Such an engine finds the field of a struct by its name. Plans name fields in the schemas of tables only; where the
engine makes a struct itself, it calls them c0, c1 and so on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from pyspark_substrait.engines.constructors import is_null
from pyspark_substrait.engines.description import Target
from pyspark_substrait.engines.places import located
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Cast,
    EnumArgument,
    Expression,
    FieldReference,
    Function,
    IfClause,
    IfThen,
    LambdaParameterReference,
    ListElement,
    MapKey,
    NestedStruct,
    OuterReference,
    ReferenceSegment,
    RootReference,
    ScalarFunction,
    StructField,
    TypeArgument,
    WindowFunction,
    referenced_type,
)
from pyspark_substrait.model.fields import Over
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.relations import Read, Reference, Relation
from pyspark_substrait.model.struct_names import named_structs
from pyspark_substrait.model.types import FP32, FP64, I64, String, Struct, Type, concrete, same_type, with_nullability
from pyspark_substrait.model.walk import (
    all_expressions,
    mapped,
    placed_expressions,
    relations_within,
    with_children,
    with_expressions,
)

__all__ = ["with_calls"]

_HINT = "Make the plan without a target, or select the field in a query of its own"


def with_calls(tree: Relation, target: Target, places: Places | None = None) -> Relation:
    """Return a tree with calls of the engine's functions in place of references into a value.

    Args:
        tree: the tree.
        target: the engine.
        places: the paths of the plan's nodes, for an error; None if they aren't known.

    Raises:
        UnsupportedPlanError: the name of a field isn't known, or a reference has no such form.
    """
    if not any(_steps(node) for node in all_expressions(tree)):
        return tree
    (made,) = mapped(tree, change=_Calls(target, tree, places).relation)
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

    target: Target
    tree: Relation
    places: Places | None

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
        node = with_children(node, lambda child: self._expression(child, record))
        steps = _steps(node)
        if not steps:
            return node
        assert isinstance(node, FieldReference)
        assert isinstance(node.reference, tuple)
        match node.root, node.reference[0]:
            case RootReference(), StructField(field=position) if record is not None:
                value: Expression = FieldReference(root=node.root, reference=node.reference[:1], type=record[position])
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
        nulls: list[Expression] = []
        for step in steps:
            here = concrete(value.type)
            type = referenced_type(value.type, (step,))
            match step:
                case StructField(field=position):
                    assert isinstance(here, Struct)
                    if here.nullable:
                        nulls.append(is_null(value))
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
        if not nulls:
            return value
        nothing = Literal(type=with_nullability(value.type, True), value=None)
        return IfThen(ifs=tuple(IfClause(one, nothing) for one in nulls), else_=value)

    # names -----------------------------------------------------------------------------------------------------------

    def _name(self, struct: Struct, position: int) -> str:
        """Return the name that the engine has for a field.

        Raises:
            UnsupportedPlanError: structs of this type have several names there, or a function made them.
        """
        names = {names[position] for type, names in self._names if same_type(type, struct)}
        if len(names) != 1 or any(same_type(type, struct) for type in self._unnamed):
            fault = (
                f"{self.target.engine} finds fields by their names; that of field {position} of {struct} isn't known"
            )
            raise UnsupportedPlanError(fault, hint=_HINT)
        return names.pop()

    @cached_property
    def _names(self) -> list[tuple[Struct, tuple[str, ...]]]:
        """The names of the fields of structs: those of tables, and those that the engine makes."""
        found: list[tuple[Struct, tuple[str, ...]]] = []
        for node in relations_within(self.tree):
            if isinstance(node, Read):
                found += named_structs(node.base_schema.struct, iter(node.base_schema.names))
        for expression in all_expressions(self.tree):
            match expression:
                case NestedStruct(type=Struct() as made):
                    found.append(_numbered(made))
                case Literal(type=type) | Cast(type=type):
                    found += map(_numbered, _structs(type))
                case _:
                    pass
        return found

    @cached_property
    def _unnamed(self) -> list[Struct]:
        """The types of the structs that functions make, and not from their arguments."""
        found: list[Struct] = []
        for call in all_expressions(self.tree):
            if isinstance(call, ScalarFunction | AggregateFunction | WindowFunction):
                values = (item for item in call.arguments if not isinstance(item, EnumArgument | TypeArgument))
                given = [struct for value in values for struct in _structs(value.type)]
                made = _structs(call.output_type)
                found += [one for one in made if not any(same_type(one, other) for other in given)]
        return found


def _numbered(struct: Struct) -> tuple[Struct, tuple[str, ...]]:
    return struct, tuple(f"c{position}" for position in range(len(struct.types)))


def _structs(type: Type) -> Iterator[Struct]:
    return (struct for struct, _ in named_structs(type, iter(())))


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
