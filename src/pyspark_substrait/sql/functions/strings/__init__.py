"""What functions of text are made of: letters, searching without regard to case."""
