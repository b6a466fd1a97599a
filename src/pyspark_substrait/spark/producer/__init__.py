"""Translate DataFrames and queries of Spark to Substrait plans.

The analysed plan is read from the JVM (:mod:`catalyst`); ``relations`` and ``expressions`` have a translation function,
a *form*, for each class of Catalyst, by its name; :mod:`scope` is the context of the forms. Spec: the ``Plan`` message.
"""
