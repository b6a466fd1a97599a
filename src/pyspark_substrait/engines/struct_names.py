"""The names of the fields of structs in an engine that finds fields by their names.

Plans name fields in the schemas of tables and at the root only. Where the engine makes a struct itself, it calls them
c0, c1 and so on, so a struct that is made gets the names that tables have for structs of its type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from pyspark_substrait.engines.constructors import called, field, is_known
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
    NestedStruct,
    ScalarFunction,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Aggregate, Project, Read, Relation, Set, VirtualTable
from pyspark_substrait.model.struct_names import TypeNumbers, named_structs, schema_structs
from pyspark_substrait.model.types import (
    Boolean,
    OpenStruct,
    String,
    Struct,
    Type,
    concrete,
    name_count,
    same_type,
    with_nullability,
)
from pyspark_substrait.model.walk import all_expressions, expression_children, relations_within, subquery_relation

__all__ = ["StructNames", "check_alike", "check_keys", "field_call", "made_literal", "made_struct", "with_root_names"]


#: the fields of a struct, those inside it included, up to which it is made with names: a null has all of them, too
_MOST_FIELDS: Final = 200


class StructNames:
    """The names of the fields of the structs in a tree.

    Args:
        tree: the relation with all below it.
    """

    def __init__(self, tree: Relation) -> None:
        self._tree = tree
        self.number = TypeNumbers().number

    def of(self, struct: Struct) -> set[tuple[str, ...]]:
        """Return the names that fields of structs of a type have; none if a function made some."""
        number = self.number(struct)
        return set() if number in self._unnamed else self._names.get(number, set())

    @property
    def are_several(self) -> bool:
        """Whether fields of structs of one type have several names."""
        return any(len(names) > 1 for names in self._names.values())

    @cached_property
    def _names(self) -> dict[int, set[tuple[str, ...]]]:
        """The names of the fields of structs, by their types: those of tables, and those that the engine makes."""
        found = [found for read in self._reads for found in schema_structs(read.base_schema)]
        for expression in all_expressions(self._tree):
            match expression:
                case NestedStruct(type=Struct() as made):
                    found.append((made, self.made(made)))
                case ScalarFunction(function=Function(name="named_struct"), output_type=Struct() as made):
                    names_of = (item.value for item in expression.arguments[::2] if isinstance(item, Literal))
                    found.append((made, tuple(map(str, names_of))))
                case Literal(type=type):
                    found += self.of_literal(type)
                case Cast(type=type, input=value) if not same_type(type, value.type):
                    found += map(_by_position, _structs(type))
                case _:
                    pass
        names: dict[int, set[tuple[str, ...]]] = {}
        for struct, own in found:
            names.setdefault(self.number(struct), set()).add(own)
        return names

    @cached_property
    def _reads(self) -> list[Read]:
        return [node for node in relations_within(self._tree) if isinstance(node, Read)]

    @cached_property
    def _agreed(self) -> dict[int, tuple[str, ...]]:
        """The names that all tables have for the fields of structs of a type. Records in the plan have no others."""
        found: dict[int, set[tuple[str, ...]]] = {}
        for read in self._reads:
            for struct, own in schema_structs(read.base_schema):
                if sum(len(one.types) for one in _structs(struct)) > _MOST_FIELDS:
                    continue
                names = found.setdefault(self.number(struct), set())
                names |= {own, _positions(struct)} if isinstance(read.read_type, VirtualTable) else {own}
        return {number: own for number, (own, *others) in found.items() if not others}

    def made(self, struct: Struct) -> tuple[str, ...]:
        """Return the names that the fields of a struct get where it is made."""
        return self._agreed.get(self.number(struct)) or _positions(struct)

    def of_literal(self, type: Type) -> list[tuple[Struct, tuple[str, ...]]]:
        """Return the structs in a literal with the names that they get; those in lists and maps are the engine's."""
        struct = concrete(type)
        if not isinstance(struct, Struct):
            return list(map(_by_position, _structs(type)))
        return [(struct, self.made(struct)), *(found for field in struct.types for found in self.of_literal(field))]

    @cached_property
    def _unnamed(self) -> set[int]:
        """The types of the structs that functions make, and not from their arguments."""
        found: set[int] = set()
        for call in all_expressions(self._tree):
            if isinstance(call, ScalarFunction) and call.function.name == "named_struct":
                continue
            if isinstance(call, ScalarFunction | AggregateFunction | WindowFunction):
                values = (item for item in call.arguments if not isinstance(item, EnumArgument | TypeArgument))
                given = {self.number(struct) for value in values for struct in _structs(value.type)}
                found |= {self.number(struct) for struct in _structs(call.output_type)} - given
        return found


def _positions(struct: Struct) -> tuple[str, ...]:
    """Return the names that the engine gives to the fields of a struct."""
    return tuple(f"c{position}" for position in range(len(struct.types)))


def _by_position(struct: Struct) -> tuple[Struct, tuple[str, ...]]:
    return struct, _positions(struct)


def _structs(type: Type) -> list[Struct]:
    return [struct for struct, _ in named_structs(type, iter(()))]


def _named_call(struct: Struct, names: Sequence[str], values: Sequence[Expression], target: Target) -> Expression:
    """Return the call that makes a struct with fields of some names."""
    arguments: list[Expression] = []
    for name, value in zip(names, values, strict=True):
        arguments += [Literal(type=String(), value=name), value]
    function = Function(target.extension, "named_struct", "any")
    return called(function, struct, *arguments)


def field_call(value: Expression, name: str, type: Type, target: Target) -> Expression:
    """Return the call that gives a field of a struct."""
    function = Function(target.extension, "get_field", "struct_str")
    key = Literal(type=String(), value=name)
    return called(function, type, value, key)


def made_struct(struct: Struct, values: Sequence[Expression], names: StructNames, target: Target) -> Expression:
    """Return the call that makes a struct, with the names that tables have for structs of its type if they agree."""
    own = names.made(struct)
    if own != _positions(struct):
        return _named_call(struct, own, values, target)
    return called(Function("", target.struct_function, "any"), struct, *values)


def made_literal(literal: Literal, names: StructNames, target: Target) -> Expression:
    """Return a literal struct whose fields get other names than the engine's as a call; other literals as they are."""
    struct = concrete(literal.type)
    if not isinstance(struct, Struct) or all(own == _positions(one) for one, own in names.of_literal(struct)):
        return literal
    if isinstance(literal.value, tuple):
        values = [made_literal(part, names, target) for part in literal.value if isinstance(part, Literal)]
        return made_struct(struct, values, names, target)
    nothing = [Literal(type=with_nullability(type, True), value=None) for type in struct.types]
    made = made_struct(struct, [made_literal(part, names, target) for part in nothing], names, target)
    return IfThen(ifs=(IfClause(Literal(type=Boolean(), value=False), made),))


# at the root ----------------------------------------------------------------------------------------------------------


def with_root_names(root: RelRoot, names: StructNames, target: Target, places: Places | None = None) -> RelRoot:
    """Return a root whose columns have structs with the names that it states for their fields.

    The engine finds them by their names where some of them are the same, and only else by their positions.

    Raises:
        UnsupportedPlanError: the names of the fields aren't known, or are other ones inside a column.
    """
    schema = root.input.schema
    if isinstance(schema, OpenStruct) or all(not _structs(type) for type in schema.types):
        return root
    position, columns = 0, list[Expression]()
    for number, type in enumerate(schema.types):
        count = name_count(type)
        wanted = list(named_structs(type, iter(root.names[position + 1 : position + 1 + count])))
        column: Expression = field(root.input, number)
        with located(root.input, places):
            columns.append(_renamed(column, wanted, names, root.names[position], target))
        position += 1 + count
    if all(isinstance(column, FieldReference) for column in columns):
        return root
    return replace(root, input=Project.only(root.input, columns))


def _renamed(
    column: Expression,
    wanted: Sequence[tuple[Struct, tuple[str, ...]]],
    names: StructNames,
    name: str,
    target: Target,
) -> Expression:
    """Return a column whose structs have fields of the wanted names."""
    if all(names.of(struct) == {own} for struct, own in wanted):
        return column
    struct = concrete(column.type)
    known = names.of(struct) if isinstance(struct, Struct) else set()
    if not isinstance(struct, Struct) or len(wanted) > 1 or len(known) != 1:
        raise UnsupportedPlanError(
            f"{target.engine} finds fields by their names, and those in the column `{name}` are others at the root",
            hint="Name the fields at the root as the table does",
        )
    (olds,) = known
    fields = [field_call(column, old, type, target) for old, type in zip(olds, struct.types, strict=True)]
    made = _named_call(struct, wanted[0][1], fields, target)
    if not struct.nullable:
        return made
    return IfThen(ifs=(IfClause(is_known(column), made),))  # a literal null has other names


# where values meet ----------------------------------------------------------------------------------------------------


def check_alike(tree: Relation, names: StructNames, target: Target, places: Places | None = None) -> None:
    """Refuse what puts structs of one type together that have fields of several names.

    Raises:
        UnsupportedPlanError: there is such a comparison, choice or set operation.
    """
    if not names.are_several:
        return
    for expression in all_expressions(tree):
        children = list(expression_children(expression))
        query = subquery_relation(expression)
        types = [child.type for child in children] + ([] if query is None else [*query.schema.types])
        with located(expression, places):
            _check_types(types, names, target)
    for node in relations_within(tree):
        with located(node, places):
            match node:
                case Set(members=members):
                    for column in zip(*(member.schema.types for member in members), strict=False):
                        _check_types(column, names, target)
                case Read(read_type=VirtualTable(expressions=records)) if records:
                    for type in node.base_schema.struct.types:
                        _check_types((type, type), names, target)
                case _:
                    pass


def _check_types(types: Sequence[Type], names: StructNames, target: Target) -> None:
    before: set[int] = set()
    for struct in (struct for type in types for struct in _structs(type)):
        number = names.number(struct)
        if number in before and len(names.of(struct)) > 1:
            several = " and ".join(sorted(f"({', '.join(one)})" for one in names.of(struct)))
            raise UnsupportedPlanError(
                f"{target.engine} finds fields by their names, here structs with fields {several} meet",
                hint="Compute with the fields themselves",
            )
        before.add(number)


def check_keys(node: Aggregate, target: Target) -> None:
    """Refuse structs as keys of several grouping sets: a null in place of one has other names for its fields.

    Raises:
        UnsupportedPlanError: there is one.
    """
    if target.struct_function and any(_structs(key.type) for key in node.grouping_expressions):
        fault = f"{target.engine} has no form for several grouping sets by structs"
        raise UnsupportedPlanError(fault, hint="Group by the fields themselves")
