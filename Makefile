# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2

.PHONY: help demo test coverage lint types docs bench clean

help:
	@echo "make demo   install into $(VENV), simulate the double pendulum, say where the report is"
	@echo "make test   install what the tests need and run them (PYTEST_ARGS=--thorough: all random cases)"
	@echo "make lint   format and lint      make types  type check      make coverage  what tests reach"
	@echo "make docs   build the manual     make bench  measure speed and accuracy"

# One stamp for each set of packages, renewed when the list of dependencies changes.
$(VENV)/.%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".$(if $(filter base,$*),,[$*])"
	@touch $@

demo: $(VENV)/.base
	$(BIN)/stiction run double-pendulum --out out/double-pendulum --force

test: $(VENV)/.base $(VENV)/.tests
	$(BIN)/python -m pytest -n $(JOBS) $(PYTEST_ARGS)

coverage: $(VENV)/.base $(VENV)/.tests
	$(BIN)/python -m pytest -n $(JOBS) --cov --cov-report=term-missing:skip-covered $(PYTEST_ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff format .
	$(BIN)/ruff check .

types: $(VENV)/.base $(VENV)/.lint
	$(BIN)/pyright

docs: $(VENV)/.base $(VENV)/.docs
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.base $(VENV)/.tests
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) out site
