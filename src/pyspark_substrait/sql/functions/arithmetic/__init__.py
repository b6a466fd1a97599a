"""Building blocks of numeric functions: aggregates, windows, quantiles, division, directed rounding."""
