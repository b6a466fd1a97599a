"""Static analysis of plans, without running them: validation, lint, diff, lineage and reports."""
