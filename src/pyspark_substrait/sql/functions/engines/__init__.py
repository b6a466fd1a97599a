"""Functions of other engines that differ from the specification's of the same name: a module per extension file."""
