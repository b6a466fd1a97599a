"""What relations that write put out, and how often they are carried out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import PredicateOp, ScalarSubquery, SetPredicate
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    AdvancedExtension,
    Cross,
    NamedObjectWrite,
    OutputMode,
    Reference,
    Relation,
    RelCommon,
    Set,
    SetOp,
)
from pyspark_substrait.spark.arrow_transfer import collected
from tests.spark.plans import (
    INT,
    INT_,
    REAL_,
    TEXT_,
    aggregate,
    call,
    col,
    emit,
    group,
    ordered,
    plan,
    project,
    rows,
    run,
    tuples,
    values,
    where,
)
from tests.spark.plans import stored as read
from tests.spark.writing.records import MODIFIED, PEOPLE, delete, insert, stored, table

ANN, BEN = (1, "Ann", 30), (2, None, None)


def people(*records: tuple[Any, ...]) -> Relation:
    return values([INT, TEXT_, INT_], records)


def test_emit_picks_of_the_modified_records(spark: SparkSession) -> None:
    with table(spark) as name:
        written = insert(name, people(ANN, BEN), output=MODIFIED, common=emit(2, 0))
        assert ordered(rows(spark, written)) == ordered([(30, 1), (None, 2)])


@pytest.mark.parametrize("output", [OutputMode.NO_OUTPUT, OutputMode.UNSPECIFIED])
def test_without_output_there_are_no_columns_and_no_records(spark: SparkSession, output: OutputMode) -> None:
    with table(spark) as name:
        done = run(spark, insert(name, people(ANN), output=output))
        assert (done.num_rows, done.num_columns) == (0, 0)
        assert rows(spark, group(insert(name, people(BEN), output=output), [], [aggregate("count")])) == [(0,)]
        assert stored(spark, name) == ordered([ANN, BEN])


def test_roots_that_name_columns_of_no_output_are_noted(spark: SparkSession) -> None:
    with table(spark) as name:
        message = plan(insert(name, people(ANN))).to_message()
        message.relations[0].root.names[:] = ("id", "name", "age")  # type: ignore[attr-defined]
        loaded = ps.load(message)
        assert isinstance(loaded, Plan)
        assert [note.rule for note in loaded.notes] == ["names-of-no-output"]
        assert ps.run_query(loaded, spark=spark).num_columns == 0
        assert stored(spark, name) == [ANN]
        with pytest.raises(InvalidPlanError, match="nothing is put out"):
            ps.load(message, strict=True)


def test_an_indeterministic_input_is_computed_once(spark: SparkSession) -> None:
    with table(spark, "id INT, x DOUBLE") as name:
        random = "SELECT CAST(id AS INT) AS id, rand() AS x FROM range(50)"
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW written_random AS {random}")
        named = {"id": INT_, "x": REAL_}
        written = insert(name, read("written_random", named), named, output=MODIFIED)
        frame = ps.from_substrait(plan(written), spark)
        expected = stored(spark, name)
        assert len(expected) == 50
        assert ordered(tuples(collected(frame))) == expected
        # also when the table has changed since, and when it is asked again
        run(spark, delete(name, read(name, named), named))
        assert ordered(tuples(collected(frame))) == expected


def test_what_is_deleted_and_what_is_left_are_the_same_draw(spark: SparkSession) -> None:
    with table(spark) as name:
        spark.sql(f"INSERT INTO {name} SELECT CAST(id AS INT), 'x', 1 FROM range(40)")
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW written_draw AS SELECT * FROM {name} WHERE rand() < 0.5")
        gone = rows(spark, delete(name, read("written_draw", PEOPLE), output=MODIFIED))
        assert ordered([*gone, *stored(spark, name)]) == ordered((number, "x", 1) for number in range(40))


def test_writes_below_others_go_first(spark: SparkSession) -> None:
    with table(spark) as first, table(spark) as second:
        run(spark, insert(first, people(ANN, BEN)))
        source = read(first, PEOPLE)
        moved = delete(first, where(source, call("is_null", col(source, 1))), output=MODIFIED)
        assert rows(spark, insert(second, moved, output=MODIFIED)) == [BEN]
        assert stored(spark, first) == [ANN]
        assert stored(spark, second) == [BEN]


def test_all_is_checked_before_anything_is_written(spark: SparkSession) -> None:
    with table(spark) as first, table(spark, "id INT, name STRING") as second:
        moved = insert(first, people(ANN), output=MODIFIED)
        with pytest.raises(ps.TableError, match="has no column age"):
            run(spark, insert(second, moved))
        with pytest.raises(ps.TableError, match="there is no table written_nowhere"):
            run(spark, Cross(left=insert(first, people(ANN), output=MODIFIED), right=read("written_nowhere", PEOPLE)))
        assert stored(spark, first) == []


def test_both_sides_are_carried_out(spark: SparkSession) -> None:
    with table(spark) as first, table(spark) as second:
        both = Set(
            members=(insert(first, people(ANN), output=MODIFIED), insert(second, people(BEN), output=MODIFIED)),
            op=SetOp.UNION_ALL,
        )
        assert ordered(rows(spark, both)) == ordered([ANN, BEN])
        assert stored(spark, first) == [ANN]
        assert stored(spark, second) == [BEN]


def test_a_shared_write_is_carried_out_once(spark: SparkSession) -> None:
    with table(spark) as name:
        written = insert(name, people(ANN, BEN), output=MODIFIED)
        shared = Reference(subtree_ordinal=1, subtree=written)
        twice = Set(members=(shared, Reference(subtree_ordinal=1, subtree=written)), op=SetOp.UNION_ALL)
        found = tuples(ps.run_query(plan(twice, (), written), spark=spark))
        assert ordered(found) == ordered([ANN, ANN, BEN, BEN])
        assert stored(spark, name) == ordered([ANN, BEN])


def test_a_write_in_a_subquery_is_refused(spark: SparkSession) -> None:
    with table(spark) as name:
        written = insert(name, people(ANN), output=MODIFIED)
        above = insert(name, people(BEN), output=MODIFIED)
        counted = ScalarSubquery(input=group(written, [], [aggregate("count")]))
        exists = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=written)
        for relation in (
            where(people(BEN), exists),
            where(above, exists),
            project(above, counted),
        ):
            with pytest.raises(UnsupportedPlanError, match="write"):
                run(spark, relation)
        assert stored(spark, name) == []


def test_enhancements_are_refused(spark: SparkSession) -> None:
    changed = AdvancedExtension(enhancement=AnyMessage(type_url="type.example/x", value=b""))
    hinted = AdvancedExtension(optimization=(AnyMessage(type_url="type.example/x", value=b""),))
    with table(spark) as name:
        target = NamedObjectWrite(names=(name,), advanced_extension=changed)
        for written, path in (
            (insert(name, people(ANN), advanced_extension=changed), "advanced_extension"),
            (insert(name, people(ANN), common=RelCommon(advanced_extension=changed)), "common.advanced_extension"),
            (replace(insert(name, people(ANN)), write_type=target), "named_table.advanced_extension"),
        ):
            with pytest.raises(UnsupportedPlanError, match="changes what the relation means") as caught:
                run(spark, written)
            assert caught.value.path == f"relations[0].root.input.write.{path}.enhancement"
        run(spark, insert(name, people(ANN), advanced_extension=hinted))
        assert stored(spark, name) == [ANN]
