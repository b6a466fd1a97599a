"""Joins of frames."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from typing_extensions import Self

from pyspark_substrait.builder.columns import Column, cast_to
from pyspark_substrait.builder.functions import call
from pyspark_substrait.builder.records import Base, Field, Record, _plain, conjunction, refer
from pyspark_substrait.builder.scoping import beside, closed
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.coercion import common_type
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal as LiteralNode
from pyspark_substrait.model.relations import (
    BuildInput,
    ComparisonJoinKey,
    Cross,
    HashJoin,
    Join,
    JoinType,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Relation,
    RelCommon,
    SimpleComparisonType,
)
from pyspark_substrait.model.relations.joins import JoinBase
from pyspark_substrait.model.types import Boolean, same_type, with_nullability

__all__ = ["FIRST_ANCHOR", "Joining"]

#: The first anchor that the builder uses; a finished plan has small ones instead.
FIRST_ANCHOR = 1 << 30
_anchors = itertools.count(FIRST_ANCHOR)

#: The condition of a join: a function of both records; or the names of columns that both sides have.
On: TypeAlias = "Callable[[Any, Any], Any] | str | Sequence[str] | None"
Suffixes: TypeAlias = tuple[str, str]

_SHORT = {"full": "outer", "full outer": "outer", "semi": "left semi", "anti": "left anti", "single": "left single"}
_COMPARISONS = {
    "equal": SimpleComparisonType.EQ,
    "is not distinct from": SimpleComparisonType.IS_NOT_DISTINCT_FROM,
    "might equal": SimpleComparisonType.MIGHT_EQUAL,
}


def _join_type(how: str) -> JoinType:
    name = how.lower().replace("_", " ")
    try:
        return JoinType(_SHORT.get(name, name))
    except ValueError:
        kinds = ", ".join(one.value for one in JoinType)
        raise InvalidPlanError(f"there is no join type {how!r}", hint=f"There are: {kinds}") from None


class Joining(Base):
    """The methods that join frames."""

    def join(
        self,
        right: Base,
        on: On,
        how: str = "inner",
        *,
        suffixes: Suffixes | None = None,
        mark: str = "mark",
        post_filter: Callable[[Any], Any] | None = None,
    ) -> Self:
        """Pair the records of two frames.

        Args:
            right: the other frame.
            on: a condition as a function of both records, ``lambda l, r: l.id == r.id``; or the names of columns that
                must be equal, which are then put out once.
            how: the type: inner, outer, left, right, left semi, left anti, left single, right semi, right anti, right
                single, left mark or right mark.
            suffixes: the suffixes of names that both sides have. Without it the names stay, and such a column can only
                be selected by its position.
            mark: the name of the column that a mark join adds.
            post_filter: a filter of the output.
        """
        names = [on] if isinstance(on, str) else [] if callable(on) or on is None else list(on)
        left_record, right_record = self.record(), right.record()
        if names:
            condition = conjunction([left_record[name] == right_record[name] for name in names])
        elif on is None:
            condition = Column(LiteralNode(type=Boolean(), value=True))
        else:
            assert callable(on)
            condition = conjunction([on(left_record, right_record)])
        node: Relation = Join(
            left=self.model,
            right=right.model,
            type=_join_type(how),
            expression=self._over_both(condition, left_record, right_record),
        )
        node = self._filtered(node, right, post_filter, mark)
        if names:
            return self._using(node, right, names, suffixes, mark)
        return self._joined(node, right, suffixes, mark)

    def lateral_join(
        self,
        right: Callable[[Any], Base],
        on: Callable[[Any, Any], Any] | None = None,
        how: str = "inner",
        *,
        suffixes: Suffixes | None = None,
        mark: str = "mark",
    ) -> Self:
        """Pair each record with those of a frame that depends on it.

        Args:
            right: the frame, as a function of the left record.
            on: a condition as a function of both records.
            how: inner, left, left semi, left anti, left single or left mark.
            suffixes, mark: as for :meth:`join`.
        """
        left_record = self.record()
        frame = right(left_record)
        if not isinstance(frame, Base):
            raise InvalidPlanError("the function of the left record gives no frame")
        right_record = frame.record()
        condition = None if on is None else conjunction([on(left_record, right_record)])
        anchor = next(_anchors)
        node = LateralJoin(
            common=RelCommon(rel_anchor=anchor),
            left=self.model,
            right=beside(frame.model, left_record._token, anchor),
            type=_join_type(how),
            expression=None if condition is None else self._over_both(condition, left_record, right_record),
        )
        return self._joined(node, frame, suffixes, mark)

    def cross_join(self, right: Base, *, suffixes: Suffixes | None = None) -> Self:
        """Pair every record with every record of another frame."""
        left_fields, right_fields = _suffixed(self.fields, right.fields, suffixes)
        return self._next(Cross(left=self.model, right=right.model), (*left_fields, *right_fields))

    def hash_join(
        self,
        right: Base,
        keys: Sequence[str | tuple[str, str] | tuple[str, str, str]],
        how: str = "inner",
        *,
        residual: Callable[[Any, Any], Any] | None = None,
        build: Literal["left", "right"] = "right",
        suffixes: Suffixes | None = None,
        mark: str = "mark",
        post_filter: Callable[[Any], Any] | None = None,
    ) -> Self:
        """Join by hashed keys.

        Args:
            right: the other frame.
            keys: a name that both sides have, or the left and the right name; a third item is the comparison:
                ``equal``, ``is not distinct from`` or ``might equal``.
            how: the type, as for :meth:`join`.
            residual: a further condition.
            build: the side for which the hash table is built.
            suffixes, mark, post_filter: as for :meth:`join`.
        """
        node = HashJoin(
            left=self.model,
            right=right.model,
            type=_join_type(how),
            keys=self._keys(right, keys),
            residual_expression=self._residual(right, residual),
            build_input=BuildInput(build),
        )
        return self._joined(self._filtered(node, right, post_filter, mark), right, suffixes, mark)

    def merge_join(
        self,
        right: Base,
        keys: Sequence[str | tuple[str, str] | tuple[str, str, str]],
        how: str = "inner",
        *,
        residual: Callable[[Any, Any], Any] | None = None,
        suffixes: Suffixes | None = None,
        mark: str = "mark",
        post_filter: Callable[[Any], Any] | None = None,
    ) -> Self:
        """Join frames that are sorted by their keys; arguments as for :meth:`hash_join`."""
        node = MergeJoin(
            left=self.model,
            right=right.model,
            type=_join_type(how),
            keys=self._keys(right, keys),
            residual_expression=self._residual(right, residual),
        )
        return self._joined(self._filtered(node, right, post_filter, mark), right, suffixes, mark)

    def nested_loop_join(
        self,
        right: Base,
        on: Callable[[Any, Any], Any] | None = None,
        how: str = "inner",
        *,
        suffixes: Suffixes | None = None,
        mark: str = "mark",
    ) -> Self:
        """Join by trying every pair of records; arguments as for :meth:`join`."""
        node = NestedLoopJoin(
            left=self.model, right=right.model, type=_join_type(how), expression=self._residual(right, on)
        )
        return self._joined(node, right, suffixes, mark)

    # ------------------------------------------------------------------------------------------------------------------

    def _over_both(self, value: Column, left: Record, right: Record) -> Expression:
        return closed(_plain(value).expression, {left._token: 0, right._token: len(left)})

    def _residual(self, right: Base, on: Callable[[Any, Any], Any] | None) -> Expression | None:
        if on is None:
            return None
        left_record, right_record = self.record(), right.record()
        return self._over_both(conjunction([on(left_record, right_record)]), left_record, right_record)

    def _keys(self, right: Base, keys: Sequence[Any]) -> tuple[ComparisonJoinKey, ...]:
        found = []
        for key in [keys] if isinstance(keys, str) else keys:
            one, other, how = (key, key, "equal") if isinstance(key, str) else (*key, "equal")[:3]
            left_key, right_key = refer(self.types, self._position(one)), refer(right.types, right._position(other))
            if not same_type(left_key.type, right_key.type):
                raise InvalidPlanError(
                    f"the key `{one}` is {left_key.type}, and `{other}` is {right_key.type}",
                    hint="Cast one in a select below: keys are plain columns",
                )
            if how not in _COMPARISONS:
                raise InvalidPlanError(f"keys cannot be compared by {how!r}", hint=f"It is one of {list(_COMPARISONS)}")
            found.append(ComparisonJoinKey(left=left_key, right=right_key, comparison=_COMPARISONS[how]))
        if not found:
            raise InvalidPlanError("the join has no keys", hint="Use nested_loop_join")
        return tuple(found)

    def _filtered(self, node: Any, right: Base, condition: Callable[[Any], Any] | None, mark: str) -> Any:
        if condition is None:
            return node
        output = self._joined(node, right, None, mark)
        return replace(node, post_join_filter=output._condition([condition]))

    def _joined(self, node: Relation, right: Base, suffixes: Suffixes | None, mark: str) -> Self:
        assert isinstance(node, JoinBase)
        left_fields, right_fields = _suffixed(self.fields, right.fields, suffixes)
        match node.type:
            case JoinType.LEFT_SEMI | JoinType.LEFT_ANTI:
                return self._next(node, self.fields)
            case JoinType.RIGHT_SEMI | JoinType.RIGHT_ANTI:
                return self._next(node, right.fields)
            case JoinType.LEFT_MARK:
                return self._next(node, (*self.fields, Field(mark)))
            case JoinType.RIGHT_MARK:
                return self._next(node, (*right.fields, Field(mark)))
            case _:
                return self._next(node, (*left_fields, *right_fields))

    def _using(self, node: Relation, right: Base, names: Sequence[str], suffixes: Suffixes | None, mark: str) -> Self:
        """Return the join with one column for each pair of equal ones: that of the side that keeps all its records."""
        whole = self._joined(node, right, suffixes, mark)
        width = len(self.fields)
        if len(whole.fields) != width + len(right.fields):
            return whole  # only the columns of one side
        assert isinstance(node, JoinBase)
        ours = [self._position(name) for name in names]
        theirs = [width + right._position(name) for name in names]
        fields = [
            replace(field, name=names[ours.index(position)]) if position in ours else field
            for position, field in enumerate(whole.fields)
        ]
        fields = [
            replace(field, name=names[theirs.index(position)]) if position in theirs else field
            for position, field in enumerate(fields)
        ]
        whole = self._next(node, fields)
        if node.type is JoinType.OUTER:
            return self._coalesced(whole, ours, theirs)
        if node.type in (JoinType.RIGHT, JoinType.RIGHT_SINGLE):
            moved = dict(zip(ours, theirs, strict=True))
            kept = [moved.get(position, position) for position in range(width)]
        else:
            kept = list(range(width))
        kept += [position for position in range(width, len(whole.fields)) if position not in theirs]
        emitted = replace(node, common=replace(node.common, emit=tuple(kept)))
        return self._next(emitted, [whole.fields[position] for position in kept])

    def _coalesced(self, whole: Self, ours: list[int], theirs: list[int]) -> Self:
        record = whole.record()
        values: list[Column] = []
        fields: list[Field] = []
        for position, field in enumerate(whole.fields):
            if position in theirs:
                continue
            value = record[position]
            if position in ours:
                other = record[theirs[ours.index(position)]]
                common = common_type((with_nullability(value.type, False), with_nullability(other.type, False)))
                assert common is not None, "they have been compared"
                value = call("coalesce", cast_to(value, common), cast_to(other, common))
            values.append(value)
            fields.append(field)
        return self._next(Project.only(whole.model, [whole._scalar(value, record) for value in values]), fields)


def _suffixed(
    left: Sequence[Field], right: Sequence[Field], suffixes: Suffixes | None
) -> tuple[Sequence[Field], Sequence[Field]]:
    if suffixes is None:
        return left, right
    both = {field.name for field in left} & {field.name for field in right}
    return (
        [replace(field, name=field.name + suffixes[0]) if field.name in both else field for field in left],
        [replace(field, name=field.name + suffixes[1]) if field.name in both else field for field in right],
    )
