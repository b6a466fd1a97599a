"""The same question as a DataFrame and as SQL, made into plans, and a plan run over other data.

python examples/producing/orders.py
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

import pyspark_substrait as substrait

SCHEMA = "id BIGINT NOT NULL, customer STRING, price DECIMAL(10, 2)"
QUERY = "SELECT customer, sum(price) AS total FROM orders WHERE price > :least GROUP BY customer"

spark = substrait.session()

# a DataFrame: what it reads goes out by the name "orders"
orders = spark.createDataFrame([], SCHEMA)
frame = orders.where("price > 10").groupBy("customer").agg({"price": "sum"}).toDF("customer", "total")
print(substrait.explain(substrait.to_substrait(frame, tables={"orders": orders})))

# SQL: the columns of the table are enough
plan = substrait.from_sql(QUERY, spark, tables={"orders": SCHEMA}, args={"least": 10})
print(substrait.explain(plan))

# a plan is bytes, and runs wherever there is a table of that name
prices = pa.array([Decimal("5.00"), Decimal("20.00"), Decimal("30.50")], pa.decimal128(10, 2))
table = pa.table({"id": [1, 2, 3], "customer": ["ann", "bob", "ann"], "price": prices})
loaded = substrait.load(plan.to_bytes())
print(substrait.run_query(loaded, tables={"orders": table}, spark=spark).to_pylist())
