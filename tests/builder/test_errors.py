"""Faults are errors at the call that makes them, which say what there is instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from pyspark_substrait.builder import (
    array,
    call,
    count,
    exists,
    extended_expression,
    fn,
    lit,
    rank,
    read,
    read_files,
    scalar,
    sum_,
    switch,
    update,
    values,
    when,
)
from pyspark_substrait.errors import InvalidPlanError
from tests.builder.tables import customers, orders

FAULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "a wrong name": (lambda: orders().filter(lambda o: o.prise > 1), "no column `prise`. Did you mean `price`?"),
    "a name in another case": (lambda: orders().select("ID"), "no column `ID`. Did you mean `id`"),
    "a wrong name of a field": (lambda: customers().select(a=lambda c: c.address.cty), "no field `cty`. Did you mean"),
    "a field of a number": (lambda: orders().select(a=lambda o: o.id.x), "a i64? has no field `x`"),
    "a wrong position": (lambda: orders().select(a=lambda o: o[20]), "there is no column 20"),
    "a function that there isn't": (lambda: orders().select(a=lambda o: fn.uper(o.note)), "Did you mean `upper`"),
    "arguments that no overload takes": (
        lambda: orders().select(a=lambda o: fn.upper(o.id)),
        "upper(i64?). There are: upper(input: string) -> string",
    ),
    "types that don't go together": (lambda: orders().select(a=lambda o: o.note + 1), "add(string?, i32). There are:"),
    "a comparison of other types": (lambda: orders().filter(lambda o: o.note > o.id), "gt(string?, i64?)"),
    "an option that there isn't": (
        lambda: orders().select(a=lambda o: call("add", o.id, 1, over="x")),
        "no option `over`",
    ),
    "a value of an option": (
        lambda: orders().select(a=lambda o: fn.add(o.id, 1, overflow="WRAP")),
        "SILENT, SATURATE, ERROR",
    ),
    "an extension without the function": (
        lambda: orders().select(a=lambda o: call("upper", o.note, urn="functions_arithmetic")),
        "no function `upper` in",
    ),
    "arguments that no function of an extension takes": (
        lambda: orders().select(a=lambda o: call("add", o.note, 1, urn="functions_arithmetic")),
        "takes these arguments: add(string?, i32). There are: add(x: i8, y: i8) -> i8;",
    ),
    "a comparison with None": (lambda: orders().filter(lambda o: o.id == None), "Use is_null()"),  # noqa: E711
    "an exchange by an outer record": (
        lambda: orders().filter(
            lambda o: exists(orders().exchange(bucket=lambda i: (i.id + o.id).cast("i32"), partitions=2))
        ),
        "by themselves alone",
    ),
    "an update by another record": (
        lambda: orders().select(a=lambda o: scalar(update("t", {"a": "i64?"}, {"a": lambda t: t.a + o.id}))),
        "a record that is not of its table",
    ),
    "no condition": (lambda: orders().filter("price"), "the condition is decimal?<10, 2>"),
    "and of numbers": (lambda: orders().filter(lambda o: o.id & o.customer), "and(i64?, i32?)"),
    "an aggregate in a filter": (lambda: orders().filter(lambda o: sum_(o.id) > 1), "an aggregate has no place here"),
    "an aggregate of an aggregate": (lambda: orders().agg(a=lambda o: sum_(sum_(o.id))), "from another one"),
    "a column that isn't grouped": (
        lambda: orders().group_by("customer").agg(a=lambda o: sum_(o.id) + o.quantity),
        "the column `quantity` is neither grouped by nor aggregated",
    ),
    "a column without a name": (lambda: orders().select(lambda o: o.id + 1), "no name. Give it one"),
    "a cast to nothing": (lambda: orders().select(a=lambda o: o.id.cast("int")), "int"),
    "a type that is none": (lambda: read("t", {"a": "decimal<38>"}), "a: the type expression `decimal<38>`"),
    "a value that the column can't hold": (lambda: values([("x",)], {"a": "i32"}), "[0].a: 'x' (str) was given"),
    "a null in a required column": (lambda: values([(None,)], {"a": "i32"}), "None was given, but a i32 is never null"),
    "a row that is too short": (lambda: values([()], {"a": "i32"}), "row 0 has 0 values for 1 columns"),
    "none without a type": (lambda: orders().select(a=None), "State it: lit(value, type)"),
    "branches of other types": (lambda: orders().select(a=lambda o: when(o.paid, 1).otherwise("x")), "Cast it"),
    "a case of another type": (lambda: orders().select(a=lambda o: switch(o.id, {"x": 1})), "'x' (str) was given"),
    "nothing in a list": (lambda: array(), "has no type"),
    "a join type": (lambda: orders().join(customers(), "customer", "sideways"), "no join type 'sideways'"),
    "a name that both sides have": (
        lambda: orders().join(customers(), lambda o, c: o.customer == c.customer).select("customer"),
        "there are 2 columns `customer`. Take one by its position, or rename one before",
    ),
    "keys of other types": (lambda: orders().hash_join(customers(), [("id", "customer")]), "Cast one in a select"),
    "a lateral join of a wrong type": (
        lambda: customers().lateral_join(lambda c: orders(), how="right"),
        "cannot be of type right",
    ),
    "sets of other widths": (lambda: orders().union(customers()), "input 1 has 6 columns, the first one 9"),
    "sets of other types": (
        lambda: orders().select("note").union(orders().select("id")),
        "no type holds the values of the column `note`: string?, i64?",
    ),
    "two columns in a scalar": (lambda: scalar(orders().select("id", "note")), "a scalar subquery has one column"),
    "two columns in an in": (lambda: orders().filter(lambda o: o.id.isin(orders())), "1 values are compared with"),
    "a record from elsewhere": (
        lambda: (lambda kept: orders().select(a=lambda o: kept[0]).to_plan())(list(orders().record())),
        "refers to a record that is not around it",
    ),
    "a shared part that looks out": (
        lambda: orders().filter(lambda o: exists(orders().filter(lambda i: i.id == o.id).shared())),
        "a shared frame cannot refer",
    ),
    "a window function without over": (lambda: orders().select(a=lambda o: rank()), "needs a window. Add .over"),
    "a text to partition by": (lambda: orders().select(a=lambda o: rank().over("customer")), "o['customer']"),
    "bounds of both kinds": (
        lambda: orders().select(a=lambda o: count().over(order_by=o.id, rows=(0, 0), range=(0, 0))),
        "by rows or by range",
    ),
    "a range of two keys": (
        lambda: orders().select(a=lambda o: count().over(order_by=[o.id, o.note], range=(-1, 0))),
        "one sort key",
    ),
    "a negative limit": (lambda: orders().limit(-1), "-1 is not a number of records"),
    "a file format": (lambda: read_files("file:///x", {"a": "i32"}, "csv"), "no file format 'csv'"),
    "a plan of columns that there aren't": (lambda: orders().to_plan("idd"), "Did you mean `id`"),
    "a filter in an extended expression": (
        lambda: extended_expression({"a": "i32"}, {"x": lambda r: sum_(r.a).filter(r.a > 1)}),
        "plain aggregates only",
    ),
    "a lambda where none belongs": (
        lambda: orders().select(a=lambda o: fn.transform(o.id, lambda x: x)),
        "a function of Python cannot be an argument here",
    ),
    "a literal that its type can't hold": (lambda: lit(300, "i8"), "300 is out of range for a i8"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_an_error_that_says_what_to_do(name: str) -> None:
    make, text = FAULTS[name]
    with pytest.raises(InvalidPlanError) as raised:
        make()
    assert text in str(raised.value)


def test_the_error_comes_from_the_line_that_is_wrong() -> None:
    def build() -> None:
        right = orders().filter(lambda o: o.id > 1)
        wrong = right.select(x=lambda o: o.quantty)
        wrong.filter(lambda o: o.x > 1).to_plan()

    with pytest.raises(InvalidPlanError) as raised:
        build()
    lines, start = inspect.getsourcelines(build)
    place = next(entry for entry in reversed(raised.traceback) if entry.name in ("build", "<lambda>"))
    assert "o.quantty" in lines[place.lineno + 1 - start]


def test_a_column_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match="neither true nor false"):
        orders().filter(lambda o: o.id > 1 and o.id < 3)
    with pytest.raises(TypeError, match="isin"):
        orders().filter(lambda o: 1 in o.id)
