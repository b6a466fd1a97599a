"""The ways in which the evaluator gives no value."""

from __future__ import annotations

__all__ = ["Failure", "NotCovered", "Undetermined"]


class NotCovered(Exception):
    """The plan has a node, a type or a function that the evaluator doesn't know; the message names it."""


class Undetermined(Exception):
    """The specification leaves the value open: engines may differ, and each of them is right."""


class Failure(Exception):
    """The plan has to fail: an option asks for an error, or the specification calls it one."""
