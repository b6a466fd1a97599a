"""Fuzzers: random plans on Spark beside an independent evaluator and beside laws, and mutants of stored plans.

``make fuzz MINUTES=5`` runs them, ``make fuzz ARGS='bytes --seeds 0:1000'`` one kind over a range of seeds. A seed
always makes the same input. What is found is shrunk, and kept as files in ``build/fuzz``.

* ``tables``, ``literals``, ``calls``, ``expressions``, ``relations``, ``plans``: the generator of plans
* ``laws``: plans that must have the rows of another one
* ``comparison``: whether two tables have the same rows
* ``trials``: one plan written and read back, and on Spark beside the evaluator, DataFusion, the laws, and the plan that
  the producer makes of its DataFrame
* ``sessions``: the engines, and Spark's session
* ``shrink``: the smallest plan that still fails
* ``wire``, ``mutants``, ``bytes``: mutants of messages, in processes of their own
* ``kept``: findings as files
* ``planted_faults``, ``planted``: faults that are planted into the package, and how long the fuzzers take to find them
* ``run``: the command
"""
