"""Exponentials, logarithms and functions of angles, rounded in every direction.

* ``rows``: the functions of ``functions_arithmetic.yaml``
* ``rounding``: the nearest number, and its neighbours where a direction asks for one
* ``machine``: programs over numbers of twice the digits of a DOUBLE
* ``formulas``, ``arguments``, ``numbers``: the programs, what they start from, and their constants
"""
