"""Exchange as Spark SQL: a REPARTITION hint, or a BROADCAST hint.

Spark puts a record into the partition given by the hash of a key modulo the number of partitions. To assign a record to
a bucket, it gets a key whose hash is the bucket's number: every hash value has one (:func:`key_of`).

An exchange keeps the order of its input, if it has one, within each partition: the records are numbered below and
sorted in their partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.orderedness import in_order
from pyspark_substrait.model.relations import (
    Broadcast,
    Exchange,
    MultiBucketExpression,
    RoundRobin,
    ScatterFields,
    SingleBucketExpression,
)
from pyspark_substrait.model.types import List, Type, concrete
from pyspark_substrait.sql.compiler import expressions
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.query import Item, Query, plain
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope
from pyspark_substrait.sql.compiler.types import INTEGERS, has_map, spark_type
from pyspark_substrait.sql.fragment import Atom, Name

__all__ = ["MAX_PARTITIONS", "exchange", "key_of"]

#: More are refused: Spark would fail with so many.
MAX_PARTITIONS = 100_000

#: The number of partitions of an exact round robin whose plan leaves it open.
_IN_TURN = 16

_POSITION = "monotonically_increasing_id()"


def exchange(node: Exchange, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """Redistribute the records of a query.

    Raises:
        InvalidPlanError: the buckets aren't numbers, or the number of partitions is invalid.
        UnsupportedPlanError: the partitions have targets, or Spark can't hash a field.
    """
    _check(node)
    query = query.flat()
    if isinstance(node.exchange_kind, Broadcast):
        return replace(query, hint="BROADCAST").nested()
    columns, order = query.columns, ""
    if in_order(node.input):
        order = compilation.column()
        query = replace(query, items=(*query.items, Item(_POSITION, order))).nested()
    below = Below(inline=True)
    scope = Scope(Record(columns, node.common.rel_anchor), outer, below=below)
    query, texts, count = _keyed(node, query, scope, compilation)
    keys = [Item(text, compilation.column()) for text in texts]
    parameters = ", ".join([*([str(count)] if count else []), *(key.name for key in keys)])
    hint = f"REPARTITION({parameters})" if parameters else "REPARTITION"
    query = replace(query, items=(*query.items, *keys), hint=hint).nested()
    return replace(query, items=plain(columns), tail=f"SORT BY {order}" if order else "")


def _check(node: Exchange) -> None:
    """Refuse requests that no kind of exchange can fulfil."""
    count = node.partition_count
    if count < 0:
        raise InvalidPlanError(f"there cannot be {count} partitions", path="partition_count")
    if count > MAX_PARTITIONS:
        raise UnsupportedPlanError(
            f"{count} partitions are more than Spark can handle",
            path="partition_count",
            hint=f"Ask for {MAX_PARTITIONS} at most, or leave the number to Spark",
        )
    if node.targets:
        raise UnsupportedPlanError(
            "partitions cannot be sent to other places: the records of a plan stay in Spark",
            path="targets[0]",
            hint="Leave the targets out; the DataFrame that comes back has the partitions",
        )


def _keyed(node: Exchange, query: Query, scope: Scope, compilation: Compilation) -> tuple[Query, Sequence[str], int]:
    """A flat query, the keys by which Spark distributes its records, and the number of partitions, 0 for any."""
    kind, count = node.exchange_kind, node.partition_count
    below = scope.below
    assert below is not None
    match kind:
        case ScatterFields():
            with at("scatter_by_fields"):
                texts = _hashed(kind, scope, compilation)
            return below.under(query, compilation), texts, count
        case SingleBucketExpression(expression=expression):
            with at("single_target", "expression"):
                bucket = _number(expression, scope, compilation)
            return below.under(query, compilation), [_key(bucket, count)], count
        case MultiBucketExpression(expression=expression, constrained_to_count=constrained):
            with at("multi_target"):
                if constrained and not count:
                    raise InvalidPlanError(
                        "buckets cannot be constrained to a number of partitions that is not stated",
                        path="constrained_to_count",
                        hint="State partition_count",
                    )
                with at("expression"):
                    buckets = _numbers(expression, scope, compilation)
            bucket = compilation.column()
            query = _exploded(below.under(query, compilation), buckets, bucket, compilation)
            return query, [_key(_checked(bucket, count if constrained else 0), count)], count
        case RoundRobin(exact=True):
            number, count = compilation.column(), count or _IN_TURN
            turn = Item(f"(row_number() OVER (ORDER BY {_POSITION}) - 1)", number)
            return replace(query, items=(*query.items, turn)).nested(), [_key(number, count)], count
        case RoundRobin():
            return query, [], count
        case Broadcast():
            raise AssertionError("handled by exchange()")
        case _:
            assert_never(kind)


def _hashed(kind: ScatterFields, scope: Scope, compilation: Compilation) -> list[Atom]:
    """Return the values that determine the partition of a record."""
    if not kind.fields:
        raise InvalidPlanError("there are no fields to scatter the records by", path="fields")
    texts = []
    for position, field in enumerate(kind.fields):
        with at("fields", position):
            if has_map(field.type):
                raise UnsupportedPlanError(f"records cannot be scattered by {field.type}: Spark cannot hash maps")
            texts.append(expressions.expression(field, scope, compilation))
    return texts


def _number(expression: Expression, scope: Scope, compilation: Compilation) -> str:
    """Return the number of a record's bucket; a null raises."""
    if concrete(expression.type).__class__ not in INTEGERS:
        raise InvalidPlanError(f"the number of a bucket must be an integer, but is {expression.type}")
    text = expressions.expression(expression, scope, compilation)
    return f"coalesce({text}, {_raised(_NULL, expression.type)})" if expression.type.nullable else text


def _numbers(expression: Expression, scope: Scope, compilation: Compilation) -> str:
    """Return the numbers of a record's buckets, as a list; a null raises."""
    type = concrete(expression.type)
    if not isinstance(type, List) or concrete(type.type).__class__ not in INTEGERS:
        raise InvalidPlanError(f"the numbers of buckets must be a list of integers, but are {expression.type}")
    text = expressions.expression(expression, scope, compilation)
    return f"coalesce({text}, {_raised(_NULL, type)})" if expression.type.nullable else text


def _exploded(query: Query, buckets: str, bucket: Name, compilation: Compilation) -> Query:
    """Repeat each record for each of its buckets, whose number is a further column."""
    listed = Item(buckets, compilation.column())
    source = replace(query, items=(*query.items, listed)).nested().source
    view = f"LATERAL VIEW explode({listed.name}) {compilation.names.fresh('v')} AS {bucket}"
    return Query(source=f"{source} {view}", items=plain((*query.columns, bucket)), depth=query.depth + 1)


def _checked(bucket: str, count: int) -> str:
    """Return the number of a bucket, checked not to be null and, if a count is given, to be one of that many."""
    if not count:
        return f"coalesce({bucket}, CAST({_error(_NULL)} AS BIGINT))"
    wrong = _error(f"the bucket of a record isn't one of the {count} from 0 on")
    return f"CASE WHEN {bucket} BETWEEN 0 AND {count - 1} THEN {bucket} ELSE CAST({wrong} AS BIGINT) END"


_NULL = "the bucket of a record is null"


def _error(message: str) -> str:
    return f"raise_error({string_literal(message)})"


def _raised(message: str, type: Type) -> str:
    return f"CAST({_error(message)} AS {spark_type(type)})"


def _key(bucket: str, count: int) -> str:
    """Return the value to hash for a bucket; without a count, it only keeps the records of a bucket together."""
    if not count:
        return bucket
    keys = ", ".join(str(key_of(number)) for number in range(count))
    return f"array({keys})[pmod({bucket}, {count})]"


def key_of(bucket: int) -> int:
    """Return the i32 whose Spark hash (Murmur3 with the seed 42) is this number: the steps of the hash in reverse.

    >>> key_of(0)
    -1693959553
    """
    mixed = _unshifted(bucket & _MASK, 16) * _inverse(0xC2B2AE35) & _MASK
    mixed = _unshifted(mixed, 13) * _inverse(0x85EBCA6B) & _MASK
    mixed = _unshifted(mixed, 16) ^ 4
    mixed = _turned((mixed - 0xE6546B64) * _inverse(5) & _MASK, 19) ^ 42
    key = _turned(mixed * _inverse(0x1B873593) & _MASK, 17) * _inverse(0xCC9E2D51) & _MASK
    return key - 2**32 if key >= 2**31 else key


_MASK = 2**32 - 1


def _inverse(factor: int) -> int:
    """Return the inverse of a factor modulo 2**32."""
    return pow(factor, -1, 2**32)


def _turned(value: int, bits: int) -> int:
    """Rotate a number of 32 bits to the left."""
    return (value << bits | value >> 32 - bits) & _MASK


def _unshifted(value: int, bits: int) -> int:
    """The number x of 32 bits for which ``x ^ x >> bits`` is the value."""
    found = value
    for _ in range(0, 32, bits):
        found = value ^ found >> bits
    return found
