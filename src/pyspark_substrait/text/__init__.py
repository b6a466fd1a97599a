"""A plan as text: for people, and as a lossless form."""
