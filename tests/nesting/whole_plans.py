"""Plans with any number of roots, declarations, subtrees, detached parts, lambdas, aliases or hints."""

from __future__ import annotations

from tests.nesting.parts import (
    REQUIRED,
    Maker,
    new_plan,
    put_call,
    put_comparison,
    put_emit,
    put_field,
    put_filter,
    put_null_test,
    put_number,
    put_read,
    serialized,
)

__all__ = ["REPEATED_IN_PLAN"]


def _roots(size: int) -> bytes:
    plan = new_plan()
    for _ in range(size):
        root = plan.relations.add().root
        root.names.extend(["c0", "c1"])
        put_read(put_filter(root.input))
    return serialized(plan)


def _declarations(size: int) -> bytes:
    plan = new_plan()
    for number in range(size):
        declared = plan.extensions.add().extension_function
        declared.CopyFrom(plan.extensions[0].extension_function)
        declared.function_anchor = 1_000 + number
    root = plan.relations.add().root
    root.names.extend(["c0", "c1"])
    put_read(root.input)
    return serialized(plan)


def _references(twice: bool, *, narrow: bool) -> Maker:
    """Subtrees of which each refers to the one before; where it does so twice, there are 2ⁿ ways to the first."""

    def made(size: int) -> bytes:
        plan = new_plan()
        put_read(plan.relations.add().rel)
        for number in range(size):
            rel = plan.relations.add().rel
            if twice:
                if narrow:
                    put_emit(rel.cross.common, 0, 1)
                rel.cross.left.reference.subtree_ordinal = number
                rel.cross.right.reference.subtree_ordinal = number
            else:
                put_filter(rel).reference.subtree_ordinal = number
        root = plan.relations.add().root
        root.names.extend(["c0", "c1"])
        put_filter(root.input).reference.subtree_ordinal = size
        put_emit(root.input.filter.common, 0, 1)
        return serialized(plan)

    return made


def _hints(size: int) -> bytes:
    plan = new_plan()
    root = plan.relations.add().root
    root.names.extend(["c0", "c1"])
    put_read(put_filter(root.input))
    for number in range(size):
        root.input.filter.common.hint.saved_computations.add(computation_id=number, type=1)
    return serialized(plan)


def _optimizations(size: int) -> bytes:
    plan = new_plan()
    root = plan.relations.add().root
    root.names.extend(["c0", "c1"])
    put_read(put_filter(root.input))
    for number in range(size):
        found = root.input.filter.advanced_extension.optimization.add()
        found.type_url, found.value = f"type.example/{number}", b"x"
    return serialized(plan)


def _detached_expressions(size: int) -> bytes:
    """Expressions kept apart, of which each stands twice in the next."""
    plan = new_plan()
    kept = plan.relations.add().root
    kept.names.extend(["c0", "c1"])
    tree = plan.relations[0]
    put_read(kept.input.filter.input)
    put_number(tree.detached_expressions.add())
    for number in range(size):
        arguments = put_call(tree.detached_expressions.add(), "add:i64_i64")
        for _ in range(2):
            arguments.add().value.detached_expression_ordinal = number
    arguments = put_call(kept.input.filter.condition, "is_null:any", "bool")
    arguments.add().value.detached_expression_ordinal = size
    return serialized(plan)


def _detached_relations(size: int) -> bytes:
    """Relations kept apart, of which each stands twice in the next."""
    plan = new_plan()
    tree = plan.relations.add()
    tree.root.names.extend(["c0", "c1"])
    put_read(tree.detached_rels.add())
    for number in range(size):
        rel = tree.detached_rels.add()
        put_emit(rel.cross.common, 0, 1)
        rel.cross.left.detached_rel_ordinal = number
        rel.cross.right.detached_rel_ordinal = number
    put_filter(tree.root.input).detached_rel_ordinal = size
    return serialized(plan)


def _named_lambdas(size: int) -> bytes:
    """Lambdas of the plan, of which each is invoked twice in the next."""
    plan = new_plan()
    for number in range(size + 1):
        named = plan.named_lambdas.add()
        named.lambda_anchor = number + 1
        made = getattr(named, "lambda")
        made.parameters.nullability = REQUIRED
        made.parameters.types.add().i64.nullability = REQUIRED
        if number == 0:
            put_number(made.body)
            continue
        arguments = put_call(made.body, "add:i64_i64")
        for _ in range(2):
            invocation = arguments.add().value.lambda_invocation
            invocation.named_lambda.lambda_reference = number
            put_number(invocation.arguments.fields.add())
    invocation = put_null_test(plan).lambda_invocation
    invocation.named_lambda.lambda_reference = size + 1
    put_number(invocation.arguments.fields.add())
    return serialized(plan)


def _aliases(size: int) -> bytes:
    """Aliases of types, of which each stands twice in the next."""
    plan = new_plan()
    for number in range(size + 1):
        alias = plan.type_aliases.add()
        alias.type_alias_anchor = number + 1
        if number == 0:
            alias.type.i64.nullability = REQUIRED
            continue
        alias.type.map.nullability = REQUIRED
        for part in ("key", "value"):
            inner = getattr(alias.type.map, part).alias
            inner.type_alias_reference = number
            inner.nullability = REQUIRED
    root = plan.relations.add().root
    root.names.append("c")
    root.input.read.named_table.names.append("t")
    root.input.read.base_schema.names.append("c")
    root.input.read.base_schema.struct.nullability = REQUIRED
    alias = root.input.read.base_schema.struct.types.add().alias
    alias.type_alias_reference = size + 1
    alias.nullability = REQUIRED
    return serialized(plan)


def _doubled_structs(size: int) -> bytes:
    """Projections, each of which makes a struct that holds the last one twice."""
    plan = new_plan()
    root = plan.relations.add().root
    root.names.append("c")
    rel = root.input
    put_number(put_call(rel.project.expressions.add(), "is_null:any", "bool").add().value)
    put_emit(rel.project.common, 1)
    rel = rel.project.input
    for _ in range(size):
        put_emit(rel.project.common, 1)
        fields = rel.project.expressions.add().nested.struct.fields
        for _ in range(2):
            put_field(fields.add())
        rel = rel.project.input
    put_emit(rel.filter.common, 0)
    put_comparison(rel.filter.condition)
    put_read(rel.filter.input)
    return serialized(plan)


REPEATED_IN_PLAN: dict[str, Maker] = {
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
