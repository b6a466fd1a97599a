"""``python -m pyspark_substrait``: the command line."""

from __future__ import annotations

from pyspark_substrait.cli import main

if __name__ == "__main__":
    main()
