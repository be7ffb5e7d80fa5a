# Two commands on a fresh machine: `make demo` and `make test`. Everything lives in .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3.14 || command -v python3)
BIN := .venv/bin
DATA ?= $(or $(SETVEIL_DATA),../shared/data)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

SECONDS ?= 300
CORE := tests/core tests/models tests/policy tests/io/test_reading.py tests/io/test_writing.py tests/io/test_objects.py \
	tests/verify/test_claims.py tests/verify/test_originals.py tests/algorithms/km tests/cli/test_commands.py tests/workflows/test_compare.py
# Percent of the lines outside compiled loops that the tests must run.
COVERED := 70

.PHONY: demo test test-long test-lowest screens pictures fuzz check docs format coverage bench reproduce clean

demo: .venv/.ready
	$(BIN)/setveil demo
	@echo 'The same decision in your browser, with the three candidates compared: $(BIN)/setveil ui --demo'

test: .venv/.ready-dev
	@$(BIN)/python -m tests.browsers
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup

# What takes half a minute and more a test: a cluster that loses a worker, the largest searches.
test-long: .venv/.ready-dev
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m long

# The core tests with the lowest versions that pyproject.toml declares, in an environment of their own.
test-lowest:
	$(PYTHON) -m venv --clear .venv-lowest
	$(PYTHON) .ci/lowest.py > .venv-lowest/versions.txt
	.venv-lowest/bin/python -m pip --disable-pip-version-check --quiet install -c .venv-lowest/versions.txt . pytest hypothesis pandas pyarrow
	.venv-lowest/bin/python -m pytest -q -W default $(CORE)

# Every step of the page at three widths, light and dark, as pictures to be looked at, in screens/.
screens: .venv/.ready-dev
	SETVEIL_SCREENS=screens $(BIN)/python -m pytest -q -m long tests/web/test_screens.py

# The pictures of docs/ui.md, from those of the steps.
pictures: screens
	set -e; for pair in columns=2-columns-hospital-1280-light open=3-overview-1280-light danger=4-risk-1280-light \
	  protect=5-protect-1280-light protect-dark=5-protect-1280-dark hierarchy-phone=6-hierarchy-390-dark run=7-run-1280-light \
	  compare=8-compare-1280-light handover=9-hand-over-1280-light; do \
	  cp screens/$${pair#*=}.png docs/pictures/ui-$${pair%%=*}.png; done

# Random examples instead of the fixed ones of `make test`, for so many seconds; a failure is shrunk and ends it.
fuzz: .venv/.ready-dev
	$(BIN)/python -m tests.fuzz $(SECONDS)

check: .venv/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, offline and strict: a broken link or a missing page fails. Its reference pages are made from the code.
docs: .venv/.ready-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

format: .venv/.ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

coverage: .venv/.ready-dev
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup --cov --cov-report=term --cov-fail-under=$(COVERED)

bench: .venv/.ready-dev
	for part in km constraints sensitive classes; do $(BIN)/python -m benchmarks.$$part --data $(DATA); done

# Runs every experiment of the papers and writes docs/reproduction.md and what it leads to.
reproduce: .venv/.ready-dev
	$(BIN)/python -m experiments all --jobs 2 --data $(DATA) -o docs

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) install -c constraints.txt -e '.[ui]'
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m compileall -q -j 0 .venv/lib src || true
	touch $@

.venv/.ready-dev: .venv/.ready
	$(PIP) install -c constraints.txt -e '.[dev,experiments]'
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m compileall -q -j 0 .venv/lib || true
	touch $@

clean:
	rm -rf .venv .venv-lowest .pytest_cache .mypy_cache .ruff_cache .hypothesis demo-out demo-out.internal
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
