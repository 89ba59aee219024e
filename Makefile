# `make demo` runs the main job on embedded servers; `make test` passes the tests. Both build .venv themselves.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help demo test test-unit test-full lint bench docs lock clean

help:
	@echo "make demo       the main job, end to end, on an embedded S3 server and PostgreSQL"
	@echo "make test       lint, types and all tests that need nothing but wheels"
	@echo "make test-unit  the fast tests, within a minute"
	@echo "make test-full  what needs system packages, long runs and the docs as a site; names what it needs"
	@echo "make bench      side by side with other generators; prints ratios"
	@echo "make docs       docs/ as a site, in .site/"
	@echo "make lock       make requirements*.txt anew from requirements*.in"

$(READY): requirements.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("sitemap-ops needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	@echo "Building .venv from the pinned requirements (wheels only); this takes a few minutes, once."
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes \
		-r requirements.txt -r requirements-dev.txt
	@touch $@

demo: $(READY)
	@$(BIN)/python -m tests.demo

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Files stay together on one worker: what a module's fixtures start, its own tests use.
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile

test-unit: $(READY)
	$(PYTEST) tests/unit -m "not integration and not airflow and not full and not slow"

test: lint
	$(PYTEST) -m "not full"

# An extra of 450 MB, and not a wheel: the one requirement that is built here.
SPARK := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-spark.txt

CELERY := $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes \
	-r requirements-celery.txt

# Publishers that are disturbed wait more than they work: two at a time.
DISTURBED := $(patsubst %,tests/integration/test_%.py,kill faults_publish concurrency)

test-full: $(READY) docs
	@.ci/system-packages
	@$(SPARK)
	@$(CELERY)
	SPARK_IS_WANTED=1 $(BIN)/python -m pytest -q tests/integration/test_spark.py -m "not full"
	SPARK_IS_WANTED=1 $(BIN)/python -m pytest -q -m full $(DISTURBED:%=--ignore=%)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m full $(DISTURBED)

bench: $(READY)
	$(BIN)/python -m benchmarks

docs: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes \
		-r requirements-docs.txt
	$(BIN)/properdocs build --quiet --strict --clean
	@echo "Open .site/index.html."

lock: $(READY)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --only-binary :all: --generate-hashes \
		--custom-compile-command "make lock" requirements.in -o requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --only-binary :all: --generate-hashes \
		--custom-compile-command "make lock" requirements-dev.in -o requirements-dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" requirements-spark.in -o requirements-spark.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --only-binary :all: --generate-hashes \
		--custom-compile-command "make lock" requirements-docs.in -o requirements-docs.txt
	# Of Airflow, which requirements.txt has, nothing is said a second time.
	printf '%s\n' apache-airflow apache-airflow-providers-common-compat | \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --only-binary :all: --generate-hashes \
		--custom-compile-command "make lock" --excludes - requirements-celery.in -o requirements-celery.txt

clean:
	rm -rf .venv .demo .site .pytest_cache .mypy_cache .ruff_cache .hypothesis
