"""What functions of dates and times are made of: parts, zones, intervals, rounding, counts of fine units."""
