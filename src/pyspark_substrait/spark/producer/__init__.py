"""Plans out of Spark: what a DataFrame or a query means, as a plan.

The analysed plan comes out of the JVM as records (:mod:`catalyst`); ``relations`` and ``expressions`` have a form for
each class of Catalyst, by its name, and :mod:`scope` is what the forms see. Spec: the ``Plan`` message.
"""
