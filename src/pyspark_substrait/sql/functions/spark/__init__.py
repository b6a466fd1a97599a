"""Functions that only Spark has: the tables of the extensions that this package ships (``extensions/own``)."""
