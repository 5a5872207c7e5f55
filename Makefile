# `make sim` and `make test` are all a newcomer needs: each installs what it wants into .venv first.
VENV := .venv
PEERS := .venv-peers
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
# Python compiles the little that is imported as it is imported; pip would compile everything.
PIP_FLAGS := --quiet --disable-pip-version-check --no-compile
PHASE = $(PYTHON) tests/phases.py
DURATIONS := .kernels/test-durations.xml

.PHONY: sim test check score python docs browser lint kernels reference slow mutants fuzz peers clean
.DELETE_ON_ERROR:
# Without bytecode every process of every test would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE

sim: $(VENV)/installed  ## the A1 walks, is pushed sideways and recovers
	$(VENV)/bin/saltus launch push --record runs/$$(date +%Y%m%d-%H%M%S)

# Compilation and static checks first, side by side; then tests on all cores; then, one at a time,
# those that measure time.
test: python  ## what CI runs; leaves the time of each phase in .kernels/test-phases.json
	@$(PHASE) install $(MAKE) --no-print-directory --jobs=2 $(VENV)/installed-dev browser
	@$(PHASE) kernels_and_lint $(MAKE) --no-print-directory --jobs=2 --output-sync=line kernels lint
	$(PHASE) tests $(VENV)/bin/pytest -q -n auto --dist worksteal -m 'not slow and not quiet' \
		--junitxml=$(DURATIONS) -o junit_family=xunit1
	$(PHASE) quiet $(VENV)/bin/pytest -q -m quiet
	@$(PHASE)

check: $(VENV)/installed-dev  ## for work in progress, a minute: lint, and tests near what changed since BASE
	$(VENV)/bin/python -m tests.check --durations $(DURATIONS) $(if $(BASE),--base $(BASE))

score: $(VENV)/installed-dev  ## every headline figure beside its record, score.yaml; strace counts system calls
	@command -v strace > /dev/null || { [ "$$(id -u)" = 0 ] && apt-get install -y -qq strace > /dev/null; } || true
	$(VENV)/bin/saltus score

docs: $(VENV)/installed-docs  ## the documentation site, in site/; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet

# The tests of the view look at its page as a person does.
browser:  ## Chromium, from Debian's or Ubuntu's packages where it is missing
	@{ command -v chromium || command -v chromium-browser || command -v google-chrome; } > /dev/null \
	|| { [ "$$(id -u)" = 0 ] && apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends chromium > /dev/null; } \
	|| { echo "the tests of the view need Chromium: sudo apt install chromium" >&2; exit 1; }

lint: $(VENV)/installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/pyrefly check --summary=none --min-severity=error --python-interpreter-path $(VENV)/bin/python
	$(VENV)/bin/lint-imports

kernels: $(VENV)/installed-dev  ## compile what tests use
	$(VENV)/bin/python -m tests.kernels

reference: $(VENV)/installed-dev  ## record the reference run of `make test` anew; prints what has changed
	$(VENV)/bin/python -m tests.reference.record

slow: $(VENV)/installed-dev  ## the tests that take minutes
	$(VENV)/bin/pytest -q -m slow

mutants: $(VENV)/installed-dev  ## do tests notice mistakes? up to two minutes each; COUNT=10 for fewer
	$(VENV)/bin/python -m tests.mutants --count $(or $(COUNT),100)

fuzz: $(VENV)/installed-dev  ## do decoders take any input? hours; COUNT inputs or LIMIT seconds each, by SEED
	$(VENV)/bin/python -m tests.fuzzing.run --count $(or $(COUNT),1000000) --limit $(or $(LIMIT),300) \
		--seed $(or $(SEED),1)

peers: $(PEERS)/installed  ## the environment of `saltus bench planner`'s peer, Crocoddyl

clean:  ## environments and compiled code
	rm -rf $(VENV) $(PEERS) .kernels .mutants .fuzz

python:
	@test -n "$(PYTHON)" || { echo "saltus needs Python 3.11 or newer: install it, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }

$(VENV)/bin/python: | python
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) cannot make environments: install its venv package (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml saltation/pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/pip install $(PIP_FLAGS) --editable saltation --editable '.[view]'
	@touch $@

# One run of pip: these packages include those of `installed`.
$(VENV)/installed-dev: pyproject.toml saltation/pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/pip install $(PIP_FLAGS) --editable saltation --editable '.[dev]'
	@touch $(VENV)/installed $@

$(VENV)/installed-docs: pyproject.toml $(VENV)/installed
	$(VENV)/bin/pip install $(PIP_FLAGS) --editable saltation --editable '.[docs]'
	@touch $@

$(PEERS)/installed: saltus/bench/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install $(PIP_FLAGS) --requirement saltus/bench/peers.txt
	$(PEERS)/bin/python -c 'import crocoddyl, pinocchio'
	@touch $@
