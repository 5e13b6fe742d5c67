# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2

.PHONY: help demo test lowest newest coverage lint check types docs bench release clean

help:
	@echo "make demo   install into $(VENV), simulate the double pendulum, say where the report is"
	@echo "make test   install what the tests need and run them (PYTEST_ARGS=--thorough: all random cases)"
	@echo "make lowest, make newest   the same with the lowest and the newest versions that pyproject.toml allows"
	@echo "make lint   format and lint      make check  the same without changing a file"
	@echo "make types  type check           make coverage  what tests reach"
	@echo "make docs   build the manual     make bench  measure speed and accuracy"
	@echo "make release  wheel, source archive and SHA256SUMS in dist/ (KEY=~/.ssh/id_ed25519: signed)"

# One stamp for each set of packages, renewed when the list of dependencies changes.
$(VENV)/.%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".$(if $(filter base,$*),,[$*])"
	@touch $@

demo: $(VENV)/.base
	$(BIN)/stiction run double-pendulum --out out/double-pendulum --force

test: $(VENV)/.base $(VENV)/.tests $(VENV)/.oracles $(VENV)/.docs
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

# Each in an environment of its own. Oracles are left out: they have bounds of their own on NumPy.
lowest: RESOLUTION := lowest-direct
newest: RESOLUTION := highest
lowest newest:
	@test -x $(VENV)-$@/bin/python || $(PYTHON) -m venv $(VENV)-$@
	@$(VENV)-$@/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "uv>=0.5"
	$(VENV)-$@/bin/uv pip install --quiet --python $(VENV)-$@/bin/python --upgrade \
	  --resolution $(RESOLUTION) --editable ".[tests]"
	$(VENV)-$@/bin/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

coverage: $(VENV)/.base $(VENV)/.tests $(VENV)/.oracles
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term-missing:skip-covered $(PYTEST_ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --no-cache .

check: $(VENV)/.lint
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check .

types: $(VENV)/.base $(VENV)/.lint $(VENV)/.tests  # tests brings every optional reader
	$(BIN)/pyright

docs: $(VENV)/.base $(VENV)/.docs
	$(BIN)/python -m zensical build --strict --clean

bench: $(VENV)/.base $(VENV)/.tests $(VENV)/.oracles
	$(BIN)/python -m benchmarks

# Checksums of what is released, signed if there is a key. To verify: docs/trust.md.
release: $(VENV)/.release
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	cd dist && sha256sum *.whl *.tar.gz > SHA256SUMS
	$(if $(KEY),ssh-keygen -Y sign -f $(KEY) -n stiction dist/SHA256SUMS)

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-newest out site dist
