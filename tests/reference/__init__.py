"""An evaluator of plans in plain Python: small, slow, written from the specification's text, to compare engines with.

    from tests.reference import evaluate

    result = evaluate(plan, {"orders": orders})
    assert result.difference(ps.run_query(plan, tables={"orders": orders})) is None

It shares the model, the extension registry and the derivation of types with the package, nothing of what runs plans. It
gives a value only where the specification says which: :class:`Undetermined` is raised where it leaves the result
open, :class:`NotCovered` where the evaluator doesn't know a node, a type or a function, :class:`Failure` where the plan
has to fail. :class:`Choices` has the meanings that one may assume in open places.

Where a sentence is missing but its cases, or the standards that it names, leave no doubt, the value is given: an
operation on floating-point numbers rounds to even; text is compared by code points; searches distinguish capitals; a
remainder has the sign of the dividend; ``round`` goes to the nearest; the first tiles of ``ntile`` are the larger
ones; a scalar subquery without a record is null.
"""

from __future__ import annotations

from tests.reference.choices import STRICT, Choices
from tests.reference.errors import Failure, NotCovered, Undetermined
from tests.reference.relations import evaluate
from tests.reference.result import Result

__all__ = ["STRICT", "Choices", "Failure", "NotCovered", "Result", "Undetermined", "evaluate"]
