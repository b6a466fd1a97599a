"""Building blocks of date and time functions: parts, zones, intervals, rounding, counts of fine units."""
