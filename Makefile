# Each target does its own set-up; set-up done once is not done again.
# ARGS goes to pytest: make test ARGS='-k scope -x'

BIN := .venv/bin
READY := .venv/.ready
NODE_READY := node_modules/.ready
WITH_NODE := PATH="$(CURDIR)/$(BIN):$$PATH"
ANGULAR := build/angular/main.js
SCHEMA_SUITE := build/schema-suite/.ready
PEER_READY := bench/node_modules/.ready
NPM_CI := npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error

# Speed is measured without the peer, too, where npm can't be reached.
with_peer = @$(MAKE) --silent $(PEER_READY) || echo "npm can't be reached: chrome-devtools-mcp is left out." >&2

step = @printf '\n== %s ==\n' '$(1)'

.DEFAULT_GOAL := help
# The order of `check` is the order a person wants to read: tests last.
.NOTPARALLEL:
.PHONY: help setup chromium schema-suite demo test fast browser torture fuzz soak check fmt fmt-check lint types layers shims security features tools proofs peer bench bench-quick profile lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## virtual environment with pinned dependencies; leaves .venv/bin/pagebridge

$(READY): pyproject.toml constraints.txt
	@sh scripts/make_venv.sh .venv
	@touch $@

$(NODE_READY): package.json package-lock.json | $(READY)
	@echo "Installing the npm packages into node_modules." >&2
	@$(WITH_NODE) $(NPM_CI) >&2
	@touch $@

$(PEER_READY): bench/package.json bench/package-lock.json | $(READY)
	@echo "Installing the peer into bench/node_modules." >&2
	@$(WITH_NODE) $(NPM_CI) --prefix bench >&2
	@touch $@

chromium:
	@sh scripts/ensure_chromium.sh

# Without it the tests that need it fail, and say so.
schema-suite: $(READY)
	@$(MAKE) --silent $(SCHEMA_SUITE) || echo "PyPI can't be reached: the JSON-Schema-Test-Suite is not there." >&2

$(SCHEMA_SUITE): tests/schema-suite.txt | $(READY)
	@echo "Downloading the JSON-Schema-Test-Suite, which is in the source distribution of jsonschema." >&2
	@rm -rf $(@D)
	@$(BIN)/pip download --quiet --disable-pip-version-check --require-hashes --no-deps --no-binary jsonschema \
		--dest $(@D) --requirement $< >&2
	@touch $@

$(ANGULAR): tests/apps/angular/main.ts tests/apps/angular/tsconfig.json $(NODE_READY)
	@echo "Building the Angular application of the tests." >&2
	@$(WITH_NODE) node_modules/.bin/esbuild $< --bundle --format=iife --outfile=$@ --log-level=warning

demo: $(READY) chromium ## an agent lists and calls the tools of the example shop
	@$(BIN)/python examples/demo.py

test: export HYPOTHESIS_PROFILE ?= thorough
test: $(READY) chromium $(ANGULAR) schema-suite ## all tests
	$(call step,tests: pytest)
	@$(BIN)/pytest tests $(ARGS)

fast: $(READY) schema-suite ## the tests that need no browser
	@$(BIN)/pytest tests/pure tests/wire $(ARGS)

browser: $(READY) chromium $(ANGULAR) ## the tests in a real Chromium
	@$(BIN)/pytest tests/browser tests/e2e $(ARGS)

torture: export HYPOTHESIS_PROFILE ?= thorough
torture: $(READY) chromium ## every fault in every state, at many moments; about half an hour
	@$(BIN)/pytest tests -m torture $(ARGS)

fuzz: export MINUTES ?= 20
fuzz: export PYTHONHASHSEED = 0
fuzz: $(READY) chromium ## send anything to both sides for MINUTES=20; SEED=N MINUTES=0 tries one round again
	@$(BIN)/pytest tests/fuzz -m fuzz -s $(ARGS)

soak: $(READY) chromium ## navigate and call for 10 minutes, or ARGS=minutes: does anything grow?
	@$(BIN)/python -m tests.torture.soak $(ARGS)

check: fmt-check lint types layers shims proofs test ## everything that must hold before a change lands

fmt: $(READY) ## format the Python code and sort its imports
	@$(BIN)/ruff check --select I --fix
	@$(BIN)/ruff format

fmt-check: $(READY)
	$(call step,format: ruff format)
	@$(BIN)/ruff format --check

lint: $(READY) ## ruff
	$(call step,lint: ruff check)
	@$(BIN)/ruff check

types: $(READY) ## pyright; strict for the package
	$(call step,types: pyright)
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

layers: $(READY) ## import-linter: a floor imports only from floors below it
	$(call step,layers: import-linter)
	@$(BIN)/lint-imports --no-logo

shims: $(NODE_READY) ## tsc over the JavaScript that runs in pages, and over pages that use its types
	$(call step,shims: tsc)
	@for project in . tests/types tests/apps/angular; do \
		$(WITH_NODE) node_modules/.bin/tsc --project $$project || exit; done
	@echo "No errors."

security: $(READY) ## write the table of attacks and tests in SECURITY.md
	@$(BIN)/python -m scripts.proofs security

features: $(READY) ## write the table of features and tests in docs/features.md
	@$(BIN)/python -m scripts.proofs features

tools: $(READY) ## write the reference of the built-in tools, docs/tools.md
	@$(BIN)/python -m scripts.tools_reference

proofs: $(READY) ## has every attack of SECURITY.md and every feature of docs/features.md a test; is docs/tools.md true?
	$(call step,proofs: tests/threats.toml and tests/features.toml)
	@$(BIN)/python -m scripts.proofs --check security features
	@$(BIN)/python -m scripts.tools_reference --check

peer: $(READY) $(PEER_READY) chromium ## compare what pagebridge lists with what chrome-devtools-mcp does: docs/peer.md
	@$(WITH_NODE) $(BIN)/python -m bench.peer_listing

bench: $(READY) chromium ## measure speed beside plain CDP and the peer: bench/results.json, docs/performance.md
	$(call with_peer)
	@$(BIN)/python -m bench.speed $(ARGS)

bench-quick: $(READY) chromium ## the same in under 90 s; fails below the bars, and where it is worse than recorded
	$(call with_peer)
	@$(BIN)/python -m bench.speed --quick $(ARGS)

profile: $(READY) chromium ## where the time of one call goes, and that of the start
	@$(BIN)/python -m bench.profile_call

lock: ## resolve all dependencies anew and pin them
	@sh scripts/lock.sh

clean: ## remove what the targets above have made
	rm -rf .venv node_modules bench/node_modules build dist .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
