"""Plans in which one kind of node stands in itself, or beside itself, any number of times; written as messages.

A maker puts one node after the other without recursion, so it makes plans of any size in proportional time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from substrait import plan_pb2

__all__ = ["MAKERS"]

_REQUIRED = 2
_NULLABLE = 1
_FUNCTIONS = {
    "add:i64_i64": "functions_arithmetic",
    "sum:i64": "functions_arithmetic",
    "is_null:any": "functions_comparison",
    "equal:any_any": "functions_comparison",
    "gt:any_any": "functions_comparison",
    "and:bool": "functions_boolean",
    "coalesce:any": "functions_comparison",
    "concat:str": "functions_string",
    "transform:list_func": "functions_list",
}
_ANCHORS = {name: number for number, name in enumerate(_FUNCTIONS, 1)}


def _plan() -> Any:
    plan = plan_pb2.Plan()
    plan.version.minor_number = 108
    plan.execution_behavior.variable_eval_mode = 1
    files = {file: number for number, file in enumerate(dict.fromkeys(_FUNCTIONS.values()), 1)}
    for file, number in files.items():
        plan.extension_urns.add(extension_urn_anchor=number, urn=f"extension:io.substrait:{file}")
    for name, anchor in _ANCHORS.items():
        declared = plan.extensions.add().extension_function
        declared.extension_urn_reference = files[_FUNCTIONS[name]]
        declared.function_anchor = anchor
        declared.name = name
    return plan


# parts ----------------------------------------------------------------------------------------------------------------


def _read(rel: Any, columns: int = 2, table: str = "t") -> None:
    """A read of so many 64 bit integers."""
    rel.read.named_table.names.append(table)
    schema = rel.read.base_schema
    schema.names.extend(f"c{number}" for number in range(columns))
    schema.struct.nullability = _REQUIRED
    for _ in range(columns):
        schema.struct.types.add().i64.nullability = _REQUIRED


def _field(expression: Any, position: int = 0) -> None:
    expression.selection.direct_reference.struct_field.field = position
    expression.selection.root_reference.SetInParent()


def _number(expression: Any, value: int = 1) -> None:
    expression.literal.i64 = value


def _call(expression: Any, name: str, type: str = "i64", *, nullable: bool = False) -> Any:
    """Begin a call; what is returned takes its arguments."""
    call = expression.scalar_function
    call.function_reference = _ANCHORS[name]
    getattr(call.output_type, type).nullability = _NULLABLE if nullable else _REQUIRED
    return call.arguments


def _compared(expression: Any, left: int = 0, value: int = 1) -> None:
    arguments = _call(expression, "gt:any_any", "bool")
    _field(arguments.add().value, left)
    _number(arguments.add().value, value)


def _emit(common: Any, *positions: int) -> None:
    common.emit.output_mapping.extend(positions)


def _sorted(sorts: Any, position: int = 0) -> None:
    sort = sorts.add()
    _field(sort.expr, position)
    sort.direction = 1


# relations in each other ----------------------------------------------------------------------------------------------

_Step = Callable[[Any], Any]


def _filter(rel: Any) -> Any:
    _compared(rel.filter.condition)
    return rel.filter.input


def _project(rel: Any) -> Any:
    _emit(rel.project.common, 2, 1)
    _number(_start(rel.project.expressions.add(), "add:i64_i64"))
    return rel.project.input


def _start(expression: Any, name: str) -> Any:
    """A call whose first argument is the first column; its second argument is left to be filled."""
    arguments = _call(expression, name)
    _field(arguments.add().value)
    return arguments.add().value


def _widening(rel: Any) -> Any:
    _number(rel.project.expressions.add())
    return rel.project.input


def _fetch(rel: Any) -> Any:
    _number(rel.fetch.count_expr, 5)
    return rel.fetch.input


def _sort(rel: Any) -> Any:
    _sorted(rel.sort.sorts)
    return rel.sort.input


def _top(rel: Any) -> Any:
    _sorted(rel.top_n.sorts)
    _number(rel.top_n.count, 5)
    rel.top_n.mode = 1
    return rel.top_n.input


def _aggregate(rel: Any) -> Any:
    aggregate = rel.aggregate
    _field(aggregate.grouping_expressions.add())
    aggregate.groupings.add().expression_references.append(0)
    measure = aggregate.measures.add().measure
    measure.function_reference = _ANCHORS["sum:i64"]
    measure.output_type.i64.nullability = _NULLABLE
    measure.phase = 3
    measure.invocation = 1
    _field(measure.arguments.add().value, 1)
    return aggregate.input


def _sets(rel: Any) -> Any:
    rel.set.op = 6
    _read(rel.set.inputs.add())
    return rel.set.inputs.add()


def _joined(kind: str, side: str, *, narrow: bool) -> _Step:
    def step(rel: Any) -> Any:
        node = getattr(rel, kind)
        if narrow:
            _emit(node.common, 0, 1)
        if kind != "cross":
            node.type = 1
        if kind in ("join", "nested_loop_join", "lateral_join"):
            arguments = _call(node.expression, "equal:any_any", "bool")
            _field(arguments.add().value)
            _field(arguments.add().value, 1)
        elif kind != "cross":
            key = node.keys.add()
            key.left.direct_reference.struct_field.SetInParent()
            key.left.root_reference.SetInParent()
            key.right.CopyFrom(key.left)
            key.comparison.simple = 1
        _read(getattr(node, "right" if side == "left" else "left"))
        return getattr(node, side)

    return step


def _expand(rel: Any) -> Any:
    for position in range(2):
        _field(rel.expand.fields.add().consistent_field, position)
    _emit(rel.expand.common, 0, 1)
    return rel.expand.input


def _window(rel: Any) -> Any:
    function = rel.window.window_functions.add()
    function.function_reference = _ANCHORS["sum:i64"]
    function.output_type.i64.nullability = _NULLABLE
    function.phase = 3
    function.invocation = 1
    function.bounds_type = 1
    function.lower_bound.unbounded.SetInParent()
    function.upper_bound.current_row.SetInParent()
    _field(function.arguments.add().value)
    _field(rel.window.partition_expressions.add(), 1)
    _sorted(rel.window.sorts)
    _emit(rel.window.common, 0, 1)
    return rel.window.input


def _exchange(rel: Any) -> Any:
    rel.exchange.partition_count = 2
    rel.exchange.round_robin.exact = True
    return rel.exchange.input


def _scalar_subquery(rel: Any) -> Any:
    _emit(rel.project.common, 0, 2)
    _read(rel.project.input)
    inner = rel.project.expressions.add().subquery.scalar.input
    _emit(inner.fetch.common, 0)
    _number(inner.fetch.count_expr)
    return inner.fetch.input


def _in_predicate(rel: Any) -> Any:
    _read(rel.filter.input)
    predicate = rel.filter.condition.subquery.in_predicate
    _field(predicate.needles.add())
    _emit(predicate.haystack.filter.common, 0)
    _compared(predicate.haystack.filter.condition)
    return predicate.haystack.filter.input


def _exists(rel: Any) -> Any:
    _read(rel.filter.input)
    predicate = rel.filter.condition.subquery.set_predicate
    predicate.predicate_op = 1
    return predicate.tuples


def _comparison_with_any(rel: Any) -> Any:
    _read(rel.filter.input)
    comparison = rel.filter.condition.subquery.set_comparison
    comparison.reduction_op = 1
    comparison.comparison_op = 3
    _field(comparison.left)
    _emit(comparison.right.filter.common, 0)
    _compared(comparison.right.filter.condition)
    return comparison.right.filter.input


#: a relation in each relation: the step, and how many columns one adds
_RELATIONS: dict[str, tuple[_Step, int]] = {
    "filters": (_filter, 0),
    "projections": (_project, 0),
    "projections that widen": (_widening, 1),
    "fetches": (_fetch, 0),
    "sorts": (_sort, 0),
    "top-n": (_top, 0),
    "aggregates": (_aggregate, 0),
    "unions": (_sets, 0),
    "joins on the left": (_joined("join", "left", narrow=True), 0),
    "joins on the right": (_joined("join", "right", narrow=True), 0),
    "joins that widen": (_joined("join", "left", narrow=False), 2),
    "cross joins": (_joined("cross", "right", narrow=True), 0),
    "cross joins that widen": (_joined("cross", "left", narrow=False), 2),
    "hash joins": (_joined("hash_join", "left", narrow=True), 0),
    "merge joins": (_joined("merge_join", "right", narrow=True), 0),
    "nested loop joins": (_joined("nested_loop_join", "left", narrow=True), 0),
    "lateral joins on the left": (_joined("lateral_join", "left", narrow=True), 0),
    "lateral joins on the right": (_joined("lateral_join", "right", narrow=True), 0),
    "expands": (_expand, 0),
    "window relations": (_window, 0),
    "exchanges": (_exchange, 0),
    "scalar subqueries": (_scalar_subquery, 0),
    "in predicates": (_in_predicate, 0),
    "exists": (_exists, 0),
    "comparisons with any": (_comparison_with_any, 0),
}


def _relations(step: _Step, wider: int) -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        plan = _plan()
        root = plan.relations.add().root
        root.names.extend(f"c{number}" for number in range(2 + wider * size))
        rel = root.input
        for _ in range(size):
            rel = step(rel)
        _read(rel)
        return bytes(plan.SerializeToString())

    return made


# expressions in each other --------------------------------------------------------------------------------------------


def _condition(plan: Any) -> Any:
    """An expression of any type, in the condition of a filter: whether it is null."""
    root = plan.relations.add().root
    root.names.extend(["c0", "c1"])
    _read(root.input.filter.input)
    return _call(root.input.filter.condition, "is_null:any", "bool").add().value


def _add(expression: Any) -> Any:
    arguments = _call(expression, "add:i64_i64")
    _field(arguments.add().value)
    return arguments.add().value


def _coalesce(expression: Any) -> Any:
    arguments = _call(expression, "coalesce:any")
    _field(arguments.add().value)
    return arguments.add().value


def _cast(expression: Any) -> Any:
    expression.cast.type.string.nullability = _REQUIRED
    expression.cast.failure_behavior = 2
    inner = expression.cast.input.cast
    inner.type.i64.nullability = _REQUIRED
    inner.failure_behavior = 2
    return inner.input


def _if_then(where: str) -> _Step:
    def step(expression: Any) -> Any:
        node = expression.if_then
        clause = node.ifs.add()
        otherwise = getattr(node, "else")
        if where == "if":
            _number(clause.then)
            _number(otherwise)
            return _call(getattr(clause, "if"), "is_null:any", "bool").add().value
        _compared(getattr(clause, "if"))
        _number(otherwise if where == "then" else clause.then)
        return clause.then if where == "then" else otherwise

    return step


def _switch(where: str) -> _Step:
    def step(expression: Any) -> Any:
        node = expression.switch_expression
        case, otherwise = node.ifs.add(), getattr(node, "else")
        getattr(case, "if").i64 = 1
        places = {"match": node.match, "then": case.then, "else": otherwise}
        for place, part in places.items():
            if place != where:
                _number(part)
        return places[where]

    return step


def _or_list(where: str) -> _Step:
    def step(expression: Any) -> Any:
        node = expression.if_then
        clause = node.ifs.add()
        _number(clause.then)
        _number(getattr(node, "else"))
        among = getattr(clause, "if").singular_or_list
        _field(among.value if where == "option" else among.options.add())
        return among.options.add() if where == "option" else among.value

    return step


def _multi_or_list(expression: Any) -> Any:
    node = expression.if_then
    clause = node.ifs.add()
    _number(clause.then)
    _number(getattr(node, "else"))
    among = getattr(clause, "if").multi_or_list
    _number(among.options.add().fields.add())
    return among.value.add()


def _nested_list(expression: Any) -> Any:
    return expression.nested.list.values.add()


def _nested_struct(expression: Any) -> Any:
    return expression.nested.struct.fields.add()


def _nested_map(expression: Any) -> Any:
    pair = expression.nested.map.key_values.add()
    _number(pair.key)
    return pair.value


def _nested_key(expression: Any) -> Any:
    pair = expression.nested.map.key_values.add()
    _number(pair.value)
    return pair.key


def _field_of_struct(expression: Any) -> Any:
    """The field of a struct made on the spot."""
    expression.selection.direct_reference.struct_field.SetInParent()
    return expression.selection.expression.nested.struct.fields.add()


def _invocation(where: str) -> _Step:
    def step(expression: Any) -> Any:
        invocation = expression.lambda_invocation
        parameters = getattr(invocation, "lambda").parameters
        parameters.nullability = _REQUIRED
        parameters.types.add().i64.nullability = _REQUIRED
        body, argument = getattr(invocation, "lambda").body, invocation.arguments.fields.add()
        _number(body if where == "argument" else argument)
        return body if where == "body" else argument

    return step


def _transform(expression: Any) -> Any:
    """The transformed values of a list, in each of which the next list is transformed."""
    arguments = _call(expression, "coalesce:any")
    _number(arguments.add().value)
    pair = arguments.add().value.selection
    pair.direct_reference.list_element.SetInParent()
    call = pair.expression.scalar_function
    call.function_reference = _ANCHORS["transform:list_func"]
    call.output_type.list.type.i64.nullability = _REQUIRED
    call.output_type.list.nullability = _REQUIRED
    _number(call.arguments.add().value.nested.list.values.add())
    body = getattr(call.arguments.add().value, "lambda")
    body.parameters.nullability = _REQUIRED
    body.parameters.types.add().i64.nullability = _REQUIRED
    return body.body


_EXPRESSIONS: dict[str, _Step] = {
    "calls": _add,
    "coalesce": _coalesce,
    "casts": _cast,
    "if": _if_then("if"),
    "then": _if_then("then"),
    "else": _if_then("else"),
    "switch match": _switch("match"),
    "switch then": _switch("then"),
    "switch else": _switch("else"),
    "or-list value": _or_list("value"),
    "or-list option": _or_list("option"),
    "multi or-list": _multi_or_list,
    "nested lists": _nested_list,
    "nested structs": _nested_struct,
    "nested maps": _nested_map,
    "nested maps as keys": _nested_key,
    "fields of structs": _field_of_struct,
    "lambda bodies": _invocation("body"),
    "lambda arguments": _invocation("argument"),
    "lambdas of calls": _transform,
}


def _expressions(step: _Step) -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        plan = _plan()
        expression = _condition(plan)
        for _ in range(size):
            expression = step(expression)
        _number(expression)
        return bytes(plan.SerializeToString())

    return made


# literals in each other -----------------------------------------------------------------------------------------------


def _literal_pair(literal: Any) -> Any:
    pair = literal.map.key_values.add()
    pair.key.i64 = 1
    return pair.value


_LITERALS: dict[str, _Step] = {
    "list literals": lambda literal: literal.list.values.add(),
    "struct literals": lambda literal: literal.struct.fields.add(),
    "map literals": _literal_pair,
}


def _literals(step: _Step) -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        plan = _plan()
        literal = _condition(plan).literal
        for _ in range(size):
            literal = step(literal)
        literal.i64 = 1
        return bytes(plan.SerializeToString())

    return made


# types in each other --------------------------------------------------------------------------------------------------


def _list_type(type: Any) -> Any:
    type.list.nullability = _REQUIRED
    return type.list.type


def _struct_type(type: Any) -> Any:
    type.struct.nullability = _REQUIRED
    return type.struct.types.add()


def _map_type(type: Any) -> Any:
    type.map.nullability = _REQUIRED
    type.map.key.i64.nullability = _REQUIRED
    return type.map.value


_TYPES: dict[str, tuple[_Step, int]] = {"list": (_list_type, 0), "struct": (_struct_type, 1), "map": (_map_type, 0)}


def _column_type(step: _Step, names: int, filters: int = 0) -> Callable[[int], bytes]:
    """A column of a type in which so many types stand."""

    def made(size: int) -> bytes:
        plan = _plan()
        root = plan.relations.add().root
        named = ["c", *(f"f{number}" for number in range(size * names))]
        root.names.extend(named)
        read = root.input.read
        read.named_table.names.append("t")
        read.base_schema.names.extend(named)
        read.base_schema.struct.nullability = _REQUIRED
        type = read.base_schema.struct.types.add()
        for _ in range(size):
            type = step(type)
        type.i64.nullability = _REQUIRED
        return bytes(plan.SerializeToString())

    return made


def _null_type(step: _Step) -> Callable[[int], bytes]:
    """A null of a type in which so many types stand."""

    def made(size: int) -> bytes:
        plan = _plan()
        literal = _condition(plan).literal
        literal.nullable = True
        type = step(literal.null)
        for _ in range(size):
            type = step(type)
        type.i64.nullability = _REQUIRED
        for name in ("list", "struct", "map"):
            if literal.null.HasField(name):
                getattr(literal.null, name).nullability = _NULLABLE
        return bytes(plan.SerializeToString())

    return made


def _cast_to(step: _Step) -> Callable[[int], bytes]:
    """A null, cast to a type in which so many types stand."""

    def made(size: int) -> bytes:
        plan = _plan()
        cast = _condition(plan).cast
        cast.failure_behavior = 2
        types = [cast.type, cast.input.literal.null]
        cast.input.literal.nullable = True
        for _ in range(size + 1):
            types = [step(type) for type in types]
        for type in types:
            type.i64.nullability = _REQUIRED
        for name in ("list", "struct", "map"):
            for top in (cast.type, cast.input.literal.null):
                if top.HasField(name):
                    getattr(top, name).nullability = _NULLABLE
        return bytes(plan.SerializeToString())

    return made


def _masks(size: int) -> bytes:
    """A mask as deep as the type of the column that it is on."""
    plan = _plan()
    root = plan.relations.add().root
    named = ["c", *(f"f{number}" for number in range(size))]
    root.names.extend(named)
    read = root.input.read
    read.named_table.names.append("t")
    read.base_schema.names.extend(named)
    read.base_schema.struct.nullability = _REQUIRED
    type = read.base_schema.struct.types.add()
    read.projection.maintain_singular_struct = True
    item = read.projection.select.struct_items.add()
    for _ in range(size):
        type = _struct_type(type)
        item = item.child.struct.struct_items.add()
    type.i64.nullability = _REQUIRED
    return bytes(plan.SerializeToString())


# beside each other ----------------------------------------------------------------------------------------------------


def _beside(fill: Callable[[Any, int], None]) -> Callable[[int], bytes]:
    """An expression with so many parts."""

    def made(size: int) -> bytes:
        plan = _plan()
        fill(_condition(plan), size)
        return bytes(plan.SerializeToString())

    return made


def _list_of(expression: Any, size: int) -> None:
    for number in range(size):
        expression.literal.list.values.add().i64 = number


def _map_of(expression: Any, size: int) -> None:
    for number in range(size):
        pair = expression.literal.map.key_values.add()
        pair.key.i64 = number
        pair.value.string = "x"


def _struct_of(expression: Any, size: int) -> None:
    for number in range(size):
        expression.literal.struct.fields.add().i64 = number


def _text_of(expression: Any, size: int) -> None:
    expression.literal.string = "x" * size


def _nested_list_of(expression: Any, size: int) -> None:
    for _ in range(size):
        _field(expression.nested.list.values.add())


def _nested_struct_of(expression: Any, size: int) -> None:
    for _ in range(size):
        _field(expression.nested.struct.fields.add())


def _nested_map_of(expression: Any, size: int) -> None:
    for number in range(size):
        pair = expression.nested.map.key_values.add()
        _number(pair.key, number)
        _field(pair.value)


def _clauses_of(expression: Any, size: int) -> None:
    for number in range(size):
        clause = expression.if_then.ifs.add()
        _compared(getattr(clause, "if"), 0, number)
        _number(clause.then)
    _number(getattr(expression.if_then, "else"))


def _cases_of(expression: Any, size: int) -> None:
    _field(expression.switch_expression.match)
    for number in range(size):
        case = expression.switch_expression.ifs.add()
        getattr(case, "if").i64 = number
        _number(case.then)
    _number(getattr(expression.switch_expression, "else"))


def _options_of(expression: Any, size: int) -> None:
    _field(expression.singular_or_list.value)
    for number in range(size):
        _number(expression.singular_or_list.options.add(), number)


def _records_of(expression: Any, size: int) -> None:
    _field(expression.multi_or_list.value.add())
    for number in range(size):
        _number(expression.multi_or_list.options.add().fields.add(), number)


def _arguments_of(expression: Any, size: int) -> None:
    arguments = _call(expression, "coalesce:any")
    for _ in range(size):
        _field(arguments.add().value)


_BESIDE: dict[str, Callable[[Any, int], None]] = {
    "a list literal": _list_of,
    "a map literal": _map_of,
    "a struct literal": _struct_of,
    "a text": _text_of,
    "a nested list": _nested_list_of,
    "a nested struct": _nested_struct_of,
    "a nested map": _nested_map_of,
    "clauses": _clauses_of,
    "cases": _cases_of,
    "options": _options_of,
    "records of options": _records_of,
    "arguments": _arguments_of,
}


def _rooted(fill: Callable[[Any, int], int]) -> Callable[[int], bytes]:
    """A relation with so many parts; what fills it says how many columns it has."""

    def made(size: int) -> bytes:
        plan = _plan()
        root = plan.relations.add().root
        root.names.extend(f"c{number}" for number in range(fill(root.input, size)))
        return bytes(plan.SerializeToString())

    return made


def _columns(rel: Any, size: int) -> int:
    _read(rel, size)
    return size


def _expressions_of(rel: Any, size: int) -> int:
    for number in range(size):
        _number(rel.project.expressions.add(), number)
    _read(rel.project.input)
    return size + 2


def _repeated(rel: Any, size: int) -> int:
    _emit(rel.filter.common, *[0] * size)
    _compared(rel.filter.condition)
    _read(rel.filter.input)
    return size


def _sort_fields(rel: Any, size: int) -> int:
    for _ in range(size):
        _sorted(rel.sort.sorts)
    _read(rel.sort.input)
    return 2


def _members(rel: Any, size: int) -> int:
    rel.set.op = 6
    for _ in range(size):
        _read(rel.set.inputs.add())
    return 2


def _measures(rel: Any, size: int) -> int:
    for _ in range(size):
        measure = rel.aggregate.measures.add().measure
        measure.function_reference = _ANCHORS["sum:i64"]
        measure.output_type.i64.nullability = _NULLABLE
        measure.phase = 3
        measure.invocation = 1
        _field(measure.arguments.add().value)
    _read(rel.aggregate.input)
    return size


def _grouping_sets(rel: Any, size: int) -> int:
    for position in range(2):
        _field(rel.aggregate.grouping_expressions.add(), position)
    for number in range(size):
        rel.aggregate.groupings.add().expression_references.extend([[0], [1], [0, 1]][number % 3])
    _read(rel.aggregate.input)
    return 3


def _keys(rel: Any, size: int) -> int:
    for position in range(size):
        _field(rel.aggregate.grouping_expressions.add(), position)
    rel.aggregate.groupings.add().expression_references.extend(range(size))
    _read(rel.aggregate.input, size)
    return size


def _window_functions(rel: Any, size: int) -> int:
    _read(_window(rel))
    del rel.window.common.emit.output_mapping[:]
    rel.window.common.ClearField("emit")
    for _ in range(size - 1):
        rel.window.window_functions.add().CopyFrom(rel.window.window_functions[0])
    return size + 2


def _duplicates(rel: Any, size: int) -> int:
    for number in range(size):
        _number(rel.expand.fields.add().switching_field.duplicates.add(), number)
    _read(rel.expand.input)
    _emit(rel.expand.common, *range(size))
    return size


def _switching(rel: Any, size: int) -> int:
    field = rel.expand.fields.add().switching_field
    for number in range(size):
        _number(field.duplicates.add(), number)
    _read(rel.expand.input)
    _emit(rel.expand.common, 0)
    return 1


def _rows(rel: Any, size: int) -> int:
    _read(rel)
    rel.read.ClearField("named_table")
    for number in range(size):
        record = rel.read.virtual_table.expressions.add()
        for _ in range(2):
            _number(record.fields.add(), number)
    return 2


def _files(rel: Any, size: int) -> int:
    _read(rel)
    rel.read.ClearField("named_table")
    for number in range(size):
        item = rel.read.local_files.items.add()
        item.uri_file = f"file:///data/{number}.parquet"
        item.parquet.SetInParent()
    return 2


_ROOTED: dict[str, Callable[[Any, int], int]] = {
    "columns": _columns,
    "expressions of a projection": _expressions_of,
    "a column put out again": _repeated,
    "sort fields": _sort_fields,
    "members of a union": _members,
    "measures": _measures,
    "grouping sets": _grouping_sets,
    "grouping keys": _keys,
    "window functions": _window_functions,
    "fields of an expand": _duplicates,
    "duplicates of an expand": _switching,
    "records": _rows,
    "files": _files,
}


# of a whole plan ------------------------------------------------------------------------------------------------------


def _roots(size: int) -> bytes:
    plan = _plan()
    for _ in range(size):
        root = plan.relations.add().root
        root.names.extend(["c0", "c1"])
        _read(_filter(root.input))
    return bytes(plan.SerializeToString())


def _declarations(size: int) -> bytes:
    plan = _plan()
    for number in range(size):
        declared = plan.extensions.add().extension_function
        declared.CopyFrom(plan.extensions[0].extension_function)
        declared.function_anchor = 1_000 + number
    root = plan.relations.add().root
    root.names.extend(["c0", "c1"])
    _read(root.input)
    return bytes(plan.SerializeToString())


def _references(twice: bool, *, narrow: bool) -> Callable[[int], bytes]:
    """Subtrees of which each refers to the one before; where it does so twice, there are 2ⁿ ways to the first."""

    def made(size: int) -> bytes:
        plan = _plan()
        _read(plan.relations.add().rel)
        for number in range(size):
            rel = plan.relations.add().rel
            if twice:
                if narrow:
                    _emit(rel.cross.common, 0, 1)
                rel.cross.left.reference.subtree_ordinal = number
                rel.cross.right.reference.subtree_ordinal = number
            else:
                _filter(rel).reference.subtree_ordinal = number
        root = plan.relations.add().root
        root.names.extend(["c0", "c1"])
        _filter(root.input).reference.subtree_ordinal = size
        _emit(root.input.filter.common, 0, 1)
        return bytes(plan.SerializeToString())

    return made


def _hints(size: int) -> bytes:
    plan = _plan()
    root = plan.relations.add().root
    root.names.extend(["c0", "c1"])
    _read(_filter(root.input))
    for number in range(size):
        root.input.filter.common.hint.saved_computations.add(computation_id=number, type=1)
    return bytes(plan.SerializeToString())


def _optimizations(size: int) -> bytes:
    plan = _plan()
    root = plan.relations.add().root
    root.names.extend(["c0", "c1"])
    _read(_filter(root.input))
    for number in range(size):
        found = root.input.filter.advanced_extension.optimization.add()
        found.type_url, found.value = f"type.example/{number}", b"x"
    return bytes(plan.SerializeToString())


def _detached_expressions(size: int) -> bytes:
    """Expressions kept apart, of which each stands twice in the next."""
    plan = _plan()
    kept = plan.relations.add().root
    kept.names.extend(["c0", "c1"])
    tree = plan.relations[0]
    _read(kept.input.filter.input)
    _number(tree.detached_expressions.add())
    for number in range(size):
        arguments = _call(tree.detached_expressions.add(), "add:i64_i64")
        for _ in range(2):
            arguments.add().value.detached_expression_ordinal = number
    arguments = _call(kept.input.filter.condition, "is_null:any", "bool")
    arguments.add().value.detached_expression_ordinal = size
    return bytes(plan.SerializeToString())


def _detached_relations(size: int) -> bytes:
    """Relations kept apart, of which each stands twice in the next."""
    plan = _plan()
    tree = plan.relations.add()
    tree.root.names.extend(["c0", "c1"])
    _read(tree.detached_rels.add())
    for number in range(size):
        rel = tree.detached_rels.add()
        _emit(rel.cross.common, 0, 1)
        rel.cross.left.detached_rel_ordinal = number
        rel.cross.right.detached_rel_ordinal = number
    _filter(tree.root.input).detached_rel_ordinal = size
    return bytes(plan.SerializeToString())


def _named_lambdas(size: int) -> bytes:
    """Lambdas of the plan, of which each is invoked twice in the next."""
    plan = _plan()
    for number in range(size + 1):
        named = plan.named_lambdas.add()
        named.lambda_anchor = number + 1
        made = getattr(named, "lambda")
        made.parameters.nullability = _REQUIRED
        made.parameters.types.add().i64.nullability = _REQUIRED
        if number == 0:
            _number(made.body)
            continue
        arguments = _call(made.body, "add:i64_i64")
        for _ in range(2):
            invocation = arguments.add().value.lambda_invocation
            invocation.named_lambda.lambda_reference = number
            _number(invocation.arguments.fields.add())
    invocation = _condition(plan).lambda_invocation
    invocation.named_lambda.lambda_reference = size + 1
    _number(invocation.arguments.fields.add())
    return bytes(plan.SerializeToString())


def _aliases(size: int) -> bytes:
    """Aliases of types, of which each stands twice in the next."""
    plan = _plan()
    for number in range(size + 1):
        alias = plan.type_aliases.add()
        alias.type_alias_anchor = number + 1
        if number == 0:
            alias.type.i64.nullability = _REQUIRED
            continue
        alias.type.map.nullability = _REQUIRED
        for part in ("key", "value"):
            inner = getattr(alias.type.map, part).alias
            inner.type_alias_reference = number
            inner.nullability = _REQUIRED
    root = plan.relations.add().root
    root.names.append("c")
    root.input.read.named_table.names.append("t")
    root.input.read.base_schema.names.append("c")
    root.input.read.base_schema.struct.nullability = _REQUIRED
    alias = root.input.read.base_schema.struct.types.add().alias
    alias.type_alias_reference = size + 1
    alias.nullability = _REQUIRED
    return bytes(plan.SerializeToString())


def _doubled_structs(size: int) -> bytes:
    """Projections, each of which makes a struct that holds the last one twice."""
    plan = _plan()
    root = plan.relations.add().root
    root.names.append("c")
    rel = root.input
    _number(_call(rel.project.expressions.add(), "is_null:any", "bool").add().value)
    _emit(rel.project.common, 1)
    rel = rel.project.input
    for _ in range(size):
        _emit(rel.project.common, 1)
        fields = rel.project.expressions.add().nested.struct.fields
        for _ in range(2):
            _field(fields.add())
        rel = rel.project.input
    _emit(rel.filter.common, 0)
    _compared(rel.filter.condition)
    _read(rel.filter.input)
    return bytes(plan.SerializeToString())


MAKERS: dict[str, Callable[[int], bytes]] = {
    **{f"{what} in each other": _relations(step, wider) for what, (step, wider) in _RELATIONS.items()},
    **{f"{what} in each other": _expressions(step) for what, step in _EXPRESSIONS.items()},
    **{f"{what} in each other": _literals(step) for what, step in _LITERALS.items()},
    **{f"a column of {what} in {what}": _column_type(step, names) for what, (step, names) in _TYPES.items()},
    **{f"a null of {what} in {what}": _null_type(step) for what, (step, _) in _TYPES.items()},
    **{f"a cast to {what} in {what}": _cast_to(step) for what, (step, _) in _TYPES.items()},
    "masks in each other": _masks,
    **{f"the length of {what}": _beside(fill) for what, fill in _BESIDE.items()},
    **{f"the number of {what}": _rooted(fill) for what, fill in _ROOTED.items()},
    "the number of roots": _roots,
    "the number of declarations": _declarations,
    "the number of hints": _hints,
    "the number of optimizations": _optimizations,
    "detached expressions twice in each other": _detached_expressions,
    "detached relations twice in each other": _detached_relations,
    "named lambdas twice in each other": _named_lambdas,
    "aliases twice in each other": _aliases,
    "structs twice in each other": _doubled_structs,
    "references in a row": _references(False, narrow=False),
    "references twice to each other": _references(True, narrow=True),
    "references that double the columns": _references(True, narrow=False),
}
"""How a plan grows, by name: the plan of a size as bytes. Twice the size is about twice the message."""
