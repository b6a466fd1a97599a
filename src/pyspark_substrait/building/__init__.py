"""Making the model by hand: calls that are resolved and typed at once. The builder and the producer use it."""
