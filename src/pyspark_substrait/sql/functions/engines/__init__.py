"""Functions of other engines that mean something else than the specification's: a module per extension file."""
