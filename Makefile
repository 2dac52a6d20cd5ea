# Two commands are all a newcomer needs: `make run` and `make test`.

PYTHON ?= python3
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin

# Many processes start here; compiled files save each of them seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test check lint docs bench soak wheel audit sbom format lock messages clean

help:
	@echo "make run     set everything up and serve the platform with a demo campaign"
	@echo "make test    set everything up, browser included, and run the tests"
	@echo "make check   the slow tests: killed servers, backups under load, proxies, every page in the browser"
	@echo "make lint    formatting, types, migrations, documents, insecure code, secrets"
	@echo "make docs    build the documentation as a site in site/; the platform shows the same pages under /help/"
	@echo "make bench   measure speed against baselines, on this machine, now"
	@echo "make soak    the long tests: the whole stack under disasters, fuzzing at full size"
	@echo "make wheel   build the package: a wheel in dist/"
	@echo "make audit   check the pinned packages for known vulnerabilities; needs the internet"
	@echo "make sbom    write sbom.json: every shipped package with its version and hashes (CycloneDX)"
	@echo "make format  format the code      make lock   pin the newest dependencies again"
	@echo "make clean   remove the environment and caches; the data in var/ stay"

run: port-is-free $(VENV)/ready-to-run
	@exec $(BIN)/python -m da_platform.command run --port $(PORT)

test: ready-to-serve
	$(BIN)/pytest -n 2 --dist loadgroup -m "not slow and not soak" $(PYTEST)

check: ready-to-serve
	$(BIN)/pytest -n 2 --dist loadgroup -m "slow and not soak" $(PYTEST)

lint: $(VENV)/ready-to-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	DJANGO_SETTINGS_MODULE=tests.settings $(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python -m tests.check_documents
	# Without B608, which reports every composed SQL statement: ours are composed of constants.
	$(BIN)/bandit -q -r hits analysis da_platform gunicorn.conf.py -x '*/migrations/*' -ll -s B608
	# It exits with 3 if known findings have moved to other lines, which is fine.
	$(BIN)/detect-secrets-hook --baseline .secrets.baseline $$(git ls-files | grep -Ev '$(NO_SECRETS_IN)') || [ $$? = 3 ]
	@# Skip the audit, with a message, if the list of vulnerabilities cannot be reached.
	@if $(PYTHON) -c 'import urllib.request as web; web.urlopen("https://pypi.org/pypi/pip/24.0/json", timeout=5)' 2>/dev/null; \
	then $(MAKE) --no-print-directory audit; \
	else echo "Not audited: the list of known vulnerabilities cannot be reached. Run make audit when online."; fi

# Every warning is an error: broken links, pages missing from the contents list, unknown references.
docs: $(VENV)/ready-to-test
	$(BIN)/python -m sphinx -b html -n -W --keep-going -q docs site
	@echo "Open site/index.html"

# Package hashes, texts and images: what looks like a secret there is not one.
NO_SECRETS_IN := ^requirements|^tests/data/|^examples/|/locale/|[.]ipynb$$|[.]png$$|^[.]secrets

# To run some of them: make bench BENCHMARKS="rating load". It fails at the end if a target is missed.
BENCHMARKS ?=

bench: $(VENV)/ready-to-test
	$(BIN)/python -m benchmarks $(BENCHMARKS)

soak: $(VENV)/ready-to-test
	$(BIN)/pytest -n 0 -m soak -rP $(PYTEST)

# Needs the internet for hatchling, which builds it.
wheel: $(BIN)/uv
	$(BIN)/uv build --quiet --wheel --out-dir dist

audit: $(VENV)/ready-to-test
	$(BIN)/pip-audit --strict --require-hashes --disable-pip -r requirements.txt

sbom: $(VENV)/ready-to-test
	$(BIN)/cyclonedx-py requirements requirements.txt --output-reproducible --of JSON -o sbom.json

format: $(VENV)/ready-to-test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(BIN)/uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --upgrade $(LOCKING) -o requirements.txt
	$(BIN)/uv pip compile pyproject.toml --all-extras --upgrade --group dev -c requirements.txt $(LOCKING) -o requirements-dev.txt

# After changing a string that workers see; needs Debian's gettext package.
messages: $(VENV)/ready-to-run
	DA_DEBUG=1 $(BIN)/python manage.py makemessages --all --ignore $(VENV) --ignore tests --add-location file --no-wrap
	sed -i '/POT-Creation-Date\|Report-Msgid-Bugs-To/d' hits/locale/*/LC_MESSAGES/django.po
	DA_DEBUG=1 $(BIN)/python manage.py compilemessages --ignore $(VENV)

LOCKING := --quiet --no-header --generate-hashes --no-emit-index-url --no-emit-find-links --python-version 3.11

clean:
	rm -rf $(VENV) staticfiles site .pytest_cache .mypy_cache .ruff_cache .hypothesis

# What the commands above need -----------------------------------------------------------------

# Checked first, because the server lets its own processes share a port and would not notice.
.PHONY: port-is-free
port-is-free:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON). Python 3.11 is needed; try: make run PYTHON=python3.11"; exit 1; }
	@[ "$(PORT)" -gt 0 ] 2>/dev/null && [ "$(PORT)" -le 65535 ] \
		|| { echo "$(PORT) is not a port. Choose a number between 1024 and 65535: make run PORT=8001"; exit 1; }
	@$(PYTHON) -c 'import socket; s = socket.socket(); \
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", $(PORT)))' 2>/dev/null \
		|| { echo "Port $(PORT) is in use. Stop what runs there or choose another: make run PORT=8001"; exit 1; }

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
		|| { echo "Python 3.11 is needed; $(PYTHON) is another version. Try: make PYTHON=python3.11 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || $(MAKE) --no-print-directory python-venv
	@echo "Creating a virtual environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check uv

.PHONY: python-venv
python-venv:
	@if [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -qq --yes python3.11-venv >/dev/null; \
	else echo "Python's venv module is missing. Install it once: sudo apt-get install python3-venv"; exit 1; fi

$(VENV)/ready-to-run: requirements.txt | $(BIN)/uv
	@echo "Installing what the platform needs ..."
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --require-hashes -r requirements.txt
	@touch $@

$(VENV)/ready-to-test: requirements-dev.txt requirements.txt | $(BIN)/uv
	@echo "Installing what the tests need ..."
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --require-hashes -r requirements-dev.txt
	@touch $@ $(VENV)/ready-to-run

.PHONY: ready-to-serve
ready-to-serve: $(VENV)/ready-to-test
	@$(BIN)/python -m tests.setup_browser
	@$(BIN)/python -m tests.setup_servers
