"""What functions of numbers are made of: aggregates, windows, quantiles, division, directed rounding."""
