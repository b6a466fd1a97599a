"""What can be said of a plan without running it: findings, differences, lineage."""
