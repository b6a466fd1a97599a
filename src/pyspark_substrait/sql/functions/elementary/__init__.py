"""Exponentials, logarithms and functions of angles, rounded in every direction.

* ``rows``: the functions of ``functions_arithmetic.yaml``
* ``rounding``: the nearest number, or its neighbours for the other directions
* ``machine``: programs over numbers of twice the digits of a DOUBLE
* ``formulas``, ``arguments``, ``numbers``: the programs, their inputs and their constants
"""
