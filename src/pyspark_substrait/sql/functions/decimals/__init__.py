"""Building blocks of decimal functions: digits beyond Spark's limits, quotients, sums, bits, rounding modes."""
