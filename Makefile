# Every target prepares what it needs; a fresh machine needs only Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
ARGS ?=

.PHONY: serve test check setup bench smoke wheel lock clean

serve: $(STAMP)
	@$(BIN)/python -m compileall -q src  # so that no start has to, where Python itself may not write
	$(BIN)/podless serve $(ARGS)

test: $(STAMP)
	$(BIN)/python -m pytest $(ARGS)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/architecture.py

setup: $(STAMP)

bench: $(STAMP)
	$(BIN)/python -m bench $(ARGS)

smoke: $(STAMP)
	$(BIN)/python -m bench --smoke

wheel: $(STAMP)
	$(BIN)/python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist .

$(STAMP): pyproject.toml requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q src
	touch $@

lock: # needs uv; resolves the ranges of pyproject.toml into the two lock files
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -o requirements.lock pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --extra dev -o requirements-dev.lock pyproject.toml

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
