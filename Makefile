# Needs python3 (3.10 or newer) and make; everything else goes into .venv, which is made once and remade when
# pyproject.toml changes. pip is used as this machine configures it. WORKERS is how many processes run tests.
# With SPARK=3.5 (4.0, 4.1, 4.2), everything is done with that Spark, in an environment of its own.

PYTHON ?= python3
ARGS ?=
WORKERS ?= 2

SPARK ?=

# Tests start hundreds of Python processes; each would compile the package again where compiled files are not kept.
unexport PYTHONDONTWRITEBYTECODE

# The older versions that every change is tried on, and of which tests: each tenth query of TPC-DS.
LANES := 3.5 4.0
BRIEFLY := versions or tpch or tpcds and 0]

# Spark Connect 3.5 holds NumPy below 2, for which pyarrow 25 is the newest.
WITH_3.5 := 'pyarrow<26'

VENV := .venv$(if $(SPARK),-spark-$(SPARK))
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check
# Installs, and says what is fetched, built and installed; what else pip prints is left out.
INSTALL = { $(PIP) install --progress-bar off $(1) || echo failed; } | awk '/^failed$$/ {exit 1} \
  /^ *(Downloading|Building|Installing collected) / {sub(/^ */, "  "); print substr($$0, 1, 100); fflush()}'
BASE := $(VENV)/.base
DEV := $(VENV)/.dev

.PHONY: help demo test sweep test-versions test-version test-integration spark-versions conformance check format bench bench-functions bench-large bench-checking bench-profile fuzz faults docs docs-serve pictures clean java

help:
	@echo "make demo    run the tutorial's plan of 2023 on Spark"
	@echo "make test    run the tests, of the slow ones a sample  (ARGS='tests/test_cli.py -x', SPARK=3.5)"
	@echo "make sweep   run every test, in sessions as users have them  (PART=2/4)"
	@echo "make test-versions  run the demo, foreign plans, TPC-DS and the function cases on Spark $(LANES), each in an environment of its own"
	@echo "make test-integration  run the tests with real tables and views: Delta, Iceberg, Hive, PostgreSQL, Trino (Maven fetches 1 GB; SPARK=3.5)"
	@echo "make spark-versions  count what runs on a Spark, for docs/spark-versions.md  (SPARK=3.5)"
	@echo "make conformance  run the specification's function cases, and print a report  (SPARK=3.5)"
	@echo "make check   formatting, lint and types"
	@echo "make format  put the code into form"
	@echo "make bench   measure everything, beside Spark and peers  (ARGS='--save', ARGS='--quick runs', ARGS='--help')"
	@echo "make bench-functions  measure functions, a row at a time"
	@echo "make bench-large  measure how time grows with large plans and inputs"
	@echo "make bench-checking  measure checks of plans, beside substrait-validator"
	@echo "make bench-profile  measure what profiles of plans cost"
	@echo "make fuzz    try random plans beside an evaluator and laws, random queries, hostile strings, and mutants of messages  (MINUTES=30, ARGS='bytes', ARGS='laws --seeds 0:500', ARGS=planted)"
	@echo "make faults  kill what writes, fill disks, remove files, and count what is left of tables  (MINUTES=10, KINDS=killed,disk)"
	@echo "make docs    build the documentation in site/; it needs no network"
	@echo "make docs-serve  the same on this machine's port 8000, anew when a file changes"
	@echo "make pictures  make the documentation's pictures anew  (ARGS='terminal report-dark')"
	@echo "make clean   remove .venv and what tools left behind"

demo: java
	@echo "Running examples/demo/demo.py ..."
	@$(RUN) examples/demo/demo.py $(ARGS)

# build/test-times.xml says how long each test took.
PYTEST := $(RUN) -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 15 --junitxml build/test-times.xml

test: java $(DEV)
	@$(PYTEST) $(ARGS)

sweep: java $(DEV)
	@$(PYTEST) --sweep $(if $(PART),--part $(PART)) $(ARGS)

test-versions:
	@$(MAKE) --no-print-directory --jobs $(WORKERS) --output-sync=target $(LANES:%=test-version-%)

test-version-%:
	@$(MAKE) --no-print-directory test-version SPARK=$*

test-version: java $(DEV)
	@$(RUN) examples/demo/demo.py > /dev/null
	@$(RUN) -m pytest -p no:cacheprovider --quiet tests/spark/test_versions.py tests/spark/test_foreign_plans.py tests/spark/producer/test_tpcds.py -k "$(BRIEFLY)"
	@$(RUN) -m tests.conformance --brief

test-integration: java $(DEV)
	@SPARK=$(SPARK) $(RUN) -m tests.integration.environment
	@$(RUN) -m tests.integration.iceberg_rest
	@$(RUN) -m tests.integration.trino_server
	@SPARK=$(SPARK) $(RUN) -m pytest tests/integration $(ARGS)

spark-versions: java $(DEV)
	@$(RUN) -m tests.spark_versions $(ARGS)

conformance: java $(DEV)
	@$(RUN) -m tests.conformance $(ARGS)

check: $(DEV)
	@$(RUN) -m ruff format --check .
	@$(RUN) -m ruff check .
	@$(RUN) -m mypy

format: $(DEV)
	@$(RUN) -m ruff format .
	@$(RUN) -m ruff check --fix .

bench: java $(DEV)
	@$(RUN) -m benchmarks $(ARGS)

bench-functions: java $(DEV)
	@$(RUN) -m benchmarks.functions $(ARGS)

bench-large: java $(DEV)
	@$(RUN) -m benchmarks.large $(ARGS)

bench-checking: $(DEV)
	@$(RUN) -m benchmarks.checking $(ARGS)

bench-profile: java $(DEV)
	@$(RUN) -m benchmarks.profiling $(ARGS)

# What is found is shrunk, and kept in build/fuzz.
fuzz: java $(DEV)
	@$(RUN) -m fuzz.run $(if $(MINUTES),--minutes $(MINUTES)) $(ARGS)

# The tries are kept in build/faults, with their table.
faults: java $(DEV)
	@$(RUN) -m faults.run $(if $(MINUTES),--minutes $(MINUTES)) $(if $(KINDS),--kinds $(KINDS)) $(ARGS)

docs: $(DEV)
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build
	@echo "site/index.html"

docs-serve: $(DEV)
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs serve

pictures: java $(DEV)
	@$(RUN) -m docs.pictures $(ARGS)

clean:
	rm -rf site .venv .venv-spark-* .mypy_cache .pytest_cache .ruff_cache build dist examples/demo/data
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The machine's own Java if there is one, else a runtime from the extra `java`.
java: $(BASE)
	@$(RUN) -m pyspark_substrait.spark.java >/dev/null 2>&1 || { \
	  echo "No Java 17 or newer on this machine: putting a runtime into $(VENV) ..."; \
	  $(call INSTALL,--editable '.[java]'); }

$(DEV): $(BASE)
	@echo "Adding the tools for tests to $(VENV) (once) ..."
	@$(call INSTALL,--editable '.[dev]')
	@touch $@

$(BASE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "Python 3.10 or newer is needed; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "This Python can't make virtual environments; on Debian and Ubuntu: sudo apt install python3-venv" >&2; exit 1; }
	@echo "Making $(VENV) with this package and Spark$(if $(SPARK), $(SPARK)) (once; Spark alone is some 400 MB) ..."
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(call INSTALL,$(if $(SPARK),'pyspark[connect]==$(SPARK).*') $(WITH_$(SPARK)) --editable .)
	@touch $@
