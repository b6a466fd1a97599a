"""A plan as text: for people, and without loss."""
