"""Building blocks of text functions: letter case, and case-insensitive search."""
