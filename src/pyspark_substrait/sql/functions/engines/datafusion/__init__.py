"""DataFusion's functions, by subject."""
