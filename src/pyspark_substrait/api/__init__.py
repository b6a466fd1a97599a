"""The verbs: what users call."""
