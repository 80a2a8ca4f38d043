# Every target prepares what it needs; a fresh machine needs only Python 3.11 or newer and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# what serves, what tests as well, and what works on the project: each has all of the one before, in the same versions
SERVING := $(VENV)/.serving
TESTING := $(VENV)/.testing
WORKING := $(VENV)/.working
DOCUMENTING := $(VENV)-docs/.documenting
# Some tests wait for other programs, many of those that are slow.
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
test: WORKERS ?= $(shell expr $(PROCESSORS) + 1)
test-python: WORKERS ?= $(PROCESSORS) # these wait for nothing
WORKERS ?= $(shell expr $(PROCESSORS) \* 2)
PYTEST = $(BIN)/python -m pytest --workers $(WORKERS)
ARGS ?=
# what was compiled once is kept: else every worker and every server that a test starts compiles everything again
export PYTHONDONTWRITEBYTECODE :=

.PHONY: console console-check docs serve test test-all dist-check test-python clients kine fuzz check setup bench smoke wheel man lock clean

serve: $(SERVING)
	$(BIN)/podless serve --console $(ARGS)

test: $(WORKING) # without what is slow by itself, or drives other programs
	$(PYTEST) $(ARGS)

test-all: $(WORKING)
	$(PYTEST) -m "not kine" $(ARGS)

# where one Python can differ from another: the interpreter, its libraries, and all that is compiled or made at run time;
# not the tests of documents and of how tests are run
DIFFERING := $(addprefix tests/,$(addprefix test_,cluster.py deadlines.py releases.py server.py) meta store)
PORTABLE := $(DIFFERING) $(addprefix tests/,test_pytest_plugin.py cel http schema)
test-python: $(TESTING)
	HYPOTHESIS_PROFILE=few $(PYTEST) -m "not slow and not clients and not kine" $(PORTABLE) $(ARGS)

clients: $(WORKING) # programs in other languages, and versions of kubectl; ARGS="go kubectl-1.20" for some of them
	$(BIN)/python -m tests.clients $(ARGS)

KINE := .clients/bin/kine
$(KINE): # needs Go
	GOBIN=$(CURDIR)/$(dir $(KINE)) go install github.com/k3s-io/kine@v0.17.5

kine: $(WORKING) $(KINE) # the store's contract, verbs and controllers over kine with SQLite and with PostgreSQL
	PODLESS_KINE=$(CURDIR)/$(KINE) $(PYTEST) -m kine tests/store tests/verbs tests/controllers $(ARGS)

fuzz: $(WORKING) # other random requests each time, for two minutes
	$(BIN)/python -m tests.fuzz $(ARGS)

check: $(WORKING)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs
	$(BIN)/python -m tests.pages lint
	$(BIN)/python -m pytest -m "" tests/architecture.py

docs: $(DOCUMENTING) # the site, in build/site; ARGS="--site-dir elsewhere"
	NO_MKDOCS_2_WARNING=1 $(VENV)-docs/bin/mkdocs build --strict $(ARGS)

# the console's page, which is committed as it is built; needs Node
console/node_modules: console/package-lock.json
	cd console && npm ci --prefer-offline --no-progress --loglevel=error
	touch $@

console: console/node_modules
	cd console && npm run --silent build

console-check: console/node_modules
	cd console && npm run --silent lint && npm test --silent && npm run --silent build
	$(BIN)/python -m tests.console fresh

setup: $(WORKING)

explore-examples: $(WORKING) # finds the defects of the controllers in examples/explore; those in Go and Rust need their toolchains
	$(BIN)/python -m tests.explore $(ARGS)

bench: $(WORKING)
	$(BIN)/python -m bench $(ARGS)

smoke: $(WORKING)
	$(BIN)/python -m bench --smoke

wheel: $(WORKING)
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# nothing is built for serving, for that takes more packages: the sources are put on the path
$(SERVING): requirements.lock | $(BIN)/python
	$(PIP) install --require-hashes -r requirements.lock
	$(BIN)/python -c 'import pathlib, sysconfig; \
	  pathlib.Path(sysconfig.get_path("purelib"), "podless.pth").write_text("$(CURDIR)/src\n")'
	printf '#!/bin/sh\nexec "$$(dirname "$$0")/python" -m podless "$$@"\n' > $(BIN)/podless
	chmod +x $(BIN)/podless
	touch $@

# clients, linters and what checks types are not tried on another Python
TOOLS := pytest|pluggy|iniconfig|packaging|pygments|pytest-xdist|execnet|pytest-asyncio|typing-extensions
TOOLS := $(TOOLS)|hypothesis|sortedcontainers
$(TESTING): requirements-dev.lock $(SERVING)
	sed -nE '/^($(TOOLS))==/,/[^\\]$$/p' requirements-dev.lock > $@.lock
	$(PIP) install --no-compile --no-deps --require-hashes -r $@.lock
	touch $@

$(WORKING): pyproject.toml requirements-dev.lock requirements.lock | $(BIN)/python
	$(PIP) install --no-compile --require-hashes -r requirements-dev.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q src
	$(BIN)/python -c "from hypothesis.internal.charmap import charmap; charmap()" # a second in each worker, if none has kept it
	touch $(SERVING) $(TESTING) $@

dist-check: $(WORKING) # builds sdist and wheel, and runs the first commands in a fresh environment that has only the wheel
	$(BIN)/python -m tests.dist $(ARGS)

# the site has an environment of its own: none of its packages meets those of the server
$(DOCUMENTING): requirements-docs.lock
	$(PYTHON) -m venv $(VENV)-docs
	$(VENV)-docs/bin/python -m pip --quiet --disable-pip-version-check install --no-compile --require-hashes -r $<
	touch $@

man: $(WORKING) # the manual page, from the options that the commands declare
	mkdir -p build/man
	PYTHONPATH=. $(BIN)/argparse-manpage --module tests.pages.manual --function build_manual --prog podless --project-name podless \
	  --version "$$($(BIN)/python -c 'from podless.version import __version__; print(__version__)')" \
	  --description "the Kubernetes API without the pods" --url https://github.com/podless/podless \
	  --manual-title "podless commands" --output build/man/podless.1

lock: # needs uv (pip install uv); resolves the ranges of pyproject.toml for every Python from 3.11 up
	$(LOCK) --extra dev -o requirements-dev.lock pyproject.toml
	$(LOCK) --constraint requirements-dev.lock -o requirements.lock pyproject.toml
	$(LOCK) --group docs -o requirements-docs.lock

LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
  --no-emit-index-url

clean:
	rm -rf .venv .venv-* .clients dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
