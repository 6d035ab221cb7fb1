# Each target does all of its own set-up: .venv with the pinned tools, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What Coprime itself needs, as a user has it; and all that tests, pages and optional parts need.
BASE := $(VENV)/.base
READY := $(VENV)/.ready
# Workers for the tests; as many as there are cores.
JOBS ?= auto
# How many parts the whole suite is run in.
SHARDS ?= 12

.PHONY: help setup demo test test-all test-shard durations bench figures figures-all boards bitstreams board-pages user-results token token-dist release docs docs-serve style lint format papers compiler meson registers diagrams errors lock clean

help:
	@echo "make demo       decrypt and sign with a real RSA-2048 key on a generated accelerator"
	@echo "make test       lint, types and tests (8 to 10 minutes on two cores with nothing else to do)"
	@echo "make test-all   every test, a shard after the other; stopped, it goes on where it was (hours)"
	@echo "make test-shard SHARD=3/12  one part of test-all, for several machines"
	@echo "make durations  record how long the tests of the last test-all took, which cuts the shards"
	@echo "make figures    measure records again whose design has changed, and draw the pages' figures"
	@echo "make papers     measure what the papers' figures are compared with, if it has changed"
	@echo "make bench      measure the figures in docs/results.md that have no record"
	@echo "make token      the PKCS #11 module for OpenSSL, OpenSSH and others, in build/token"
	@echo "make token-dist its source distribution for packagers, built by Meson, in build/token-dist"
	@echo "make release    what a release consists of, checked and in build/release; docs/releasing.md"
	@echo "make docs       the documentation as a site, in build/site; make docs-serve shows it"
	@echo "make setup      only .venv, with the command .venv/bin/coprime"
	@echo "make compiler   a compiler for firmware on RISC-V, if the machine has none (400 MB)"
	@echo "make meson      Meson and Ninja, with which tests build the token's source distribution"
	@echo "make boards     place and route, and bitstreams, for Gowin, iCE40, Nexus and GateMate (500 MB)"
	@echo "make bitstreams bitstreams of seven boards, each made twice and compared (one to two hours)"
	@echo "make board-pages  the pages of the boards, from their records"
	@echo "make user-results  check what users sent in from the vendors' tools, and write its table"
	@echo "make registers  generate the files that derive from the register map"
	@echo "make diagrams   draw the pictures of docs/images"
	@echo "make errors     generate docs/errors.md from what wrong inputs get"
	@echo "make lock       pin the newest allowed versions of the dependencies"

setup: $(READY)

# A lock has all that its packages depend on; without looking for that, pip takes two thirds of the time.
INSTALL := $(BIN)/python tools/progress.py packages $(BIN)/python -m pip install --no-deps --no-compile --disable-pip-version-check --progress-bar off --require-hashes -r

$(BASE): requirements-base.lock pyproject.toml
	@sh tools/check_machine.sh $(PYTHON)
	@echo "Setting up $(VENV) (once) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(INSTALL) requirements-base.lock
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(READY): $(BASE) requirements.lock packages/coprime-evidence/pyproject.toml
	@echo "Adding what tests, pages and optional parts need (once, about half a minute) ..."
	@$(INSTALL) requirements.lock
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable packages/coprime-evidence
	@touch $@

demo: $(BASE)
	@$(BIN)/coprime demo

# Tests start a hundred processes of Python, which start in half the time with byte code.
BYTE_CODE := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/build/byte-code
# Of a worker that crashes there is no second one: pytest-xdist 3.8 would wait for it for ever.
PYTEST := $(BYTE_CODE) $(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup --max-worker-restart 0

# Types are checked while the first tests run.
test: $(READY) style
	@$(TYPES) & types=$$!; $(PYTEST) -m "not slow"; tests=$$?; wait $$types && exit $$tests

# FRESH=1 forgets what has ended before; PATIENCE=4 waits four times as long for each test.
test-all: $(READY) lint
	@$(BYTE_CODE) $(BIN)/python -m tests.suite --shards $(SHARDS) --jobs $(JOBS) $(if $(PATIENCE),--patience $(PATIENCE)) $(if $(FRESH),--fresh)

test-shard: $(READY)
	@$(if $(SHARD),,$(error make test-shard needs a part, for example SHARD=3/12))$(PYTEST) --shard $(SHARD)

durations: $(READY)
	@$(BIN)/python -m tests.suite --record

bench: $(READY)
	@$(BIN)/python -m bench

# Of some records: make figures NAMES="compact_2048_xc7 fdfm_xc7".
figures: $(READY)
	@$(BIN)/python -m bench.figures $(NAMES)

figures-all: $(READY)
	@$(BIN)/python -m bench.figures --all

# What is measured is kept: it may be interrupted, and goes on.
papers: $(READY)
	@$(BIN)/coprime sweep papers --update -o coprime/explore/measured.csv

token: $(READY)
	@$(BIN)/coprime token build -o build/token

token-dist: $(READY)
	@$(BIN)/python tools/token_distribution.py -o build/token-dist

release: $(READY)
	@$(BIN)/python tools/release.py -o build/release

SPHINX := PYTHONWARNINGS=ignore $(BIN)/python tools/progress.py pages $(BIN)/python -m sphinx -W --keep-going --color

docs: $(READY)
	@echo "Making the site (a minute or two; a page that has not changed is kept) ..."
	@$(SPHINX) -b html docs build/site
	@echo "build/site/index.html"

docs-serve: docs
	@echo "http://localhost:8000 (Ctrl-C ends it)"
	@$(BIN)/python -m http.server --directory build/site --bind localhost 8000

bitstreams: boards
	@$(BIN)/python -m bench.bitstreams

board-pages: $(READY)
	@$(BIN)/python tools/board_pages.py

user-results: $(READY)
	@$(BIN)/python tools/user_results.py

TYPES = $(BIN)/mypy --no-error-summary

style: $(READY)
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .

lint: style
	@$(TYPES)

format: $(READY)
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

registers: $(READY)
	@$(BIN)/python tools/registers.py

diagrams: $(READY)
	@$(BIN)/python tools/diagrams

errors: $(READY)
	@$(BIN)/python -m tests.cli.wrong_inputs

PIN := $(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras \
  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-header

lock: $(READY)
	@$(PIN) --upgrade --extra dev --extra docs --extra litex --extra route --extra soc --output-file requirements.lock pyproject.toml packages/coprime-evidence/requirements.in
	@$(PIN) --build-deps-for editable --constraint requirements.lock --output-file requirements-base.lock pyproject.toml
	@echo "ziglang>=0.14" | $(PIN) --upgrade --output-file requirements-compiler.lock -
	@printf "meson>=1.1\nninja>=1.11\n" | $(PIN) --upgrade --output-file requirements-meson.lock -
	@$(PIN) --upgrade --extra boards --constraint requirements.lock --output-file requirements-boards.lock pyproject.toml

# Half a gigabyte, and only for who places and routes for other families than ECP5.
boards: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-boards.lock

# Large, and only for who has no other compiler for RISC-V.
compiler: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-compiler.lock

# Only for the test of what packagers build.
meson: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-meson.lock

clean:
	rm -rf $(VENV) build
