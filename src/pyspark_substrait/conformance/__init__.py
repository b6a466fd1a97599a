"""The referee: cases of functions and relations, run on any engine that takes plans.

* ``function_cases``, ``case_parser``, ``case_files``: the function cases of the specification, and ours
* ``relation_cases``: the relation cases, which are ours
* ``function_trials``, ``trials``: a plan, its tables and its expected result for each case
* ``engines``, ``adapters``, ``worker``, ``processes``: what runs plans, with limits of time
* ``running``, ``verdict``: the outcome of each trial
* ``report``, ``measured_dialect``: outcomes as text, JSON, a page, and a dialect file
* ``referee``: the verb
"""
