"""The tutorial's query, built: sales of each product that is not in the category "Computers"."""

from __future__ import annotations

from pyspark_substrait.builder import Frame, fn, read, sum_

ORDERS = {"product_id": "i64", "quantity": "i32", "order_date": "date", "price": "decimal?<10, 2>"}
PRODUCTS = {
    "product_id": "i64",
    "categories": "list<string>",
    "details": "nstruct?<manufacturer: string?, year_created: i32?>",
    "product_name": "string?",
}


def sales() -> Frame:
    """The query."""
    orders, products = read("orders", ORDERS), read("products", PRODUCTS)
    return (
        orders.join(products.filter(lambda p: fn.index_in("Computers", p.categories).is_null()), "product_id")
        .group_by("product_name", "product_id")
        .agg(sales=sum_(lambda o: o.quantity * o.price))
    )


if __name__ == "__main__":
    import pyspark_substrait as substrait

    print(substrait.explain(sales().to_plan()))
