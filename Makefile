# Nudge. `make demo` shows the pipeline, `make test` tests it; both install missing Debian packages when run as root. What takes longer is
# in Tests/trial; the image is built by Deploy/try-image.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Packages of Debian or Ubuntu for the build and the tests.
PACKAGES := librdkafka-dev libsqlite3-dev libcurl4-openssl-dev libssl-dev libmicrohttpd-dev libnghttp2-dev \
  libsimdjson-dev zlib1g-dev pkg-config python3-jsonschema python3-venv kcat nghttp2-client openssl \
  liblz4-dev libjemalloc-dev

SWIFT ?= swift
DEMO_FLAGS ?=
BENCH_FLAGS ?=
MODULE ?=
CONFIGURATION ?= debug
export SWIFT

# One build of all programs: a build a product compiles the same modules in five runs, one after the other. Two threads a
# module: without them a module is compiled on one core, and the large ones at the end of the graph leave the other idle.
RELEASE := $(SWIFT) build -c release -Xswiftc -num-threads -Xswiftc 2

# A debug build takes a third of a release build's time, and the tests use it too: with the same flags, so that neither builds
# the other's modules again. The demo needs no more at its rate.
BUILD = $(if $(filter release,$(CONFIGURATION)),$(RELEASE),$(SWIFT) build)

# The products for other people's code: every public declaration of these is documented.
PUBLIC := Sources/Contract/NudgeSchema Sources/Contract/NudgeClient

# Programs from PyPI that some tests run.
TOOLS := .build/python

.PHONY: help deps tools browser demo unit test test-all check bench lint format check-deploy docs

help: ## Print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 26
	@echo "Tests/trial lists what takes longer: chaos, soak, simulation, a night on call, planted defects, fuzzing"

deps: ## Install missing packages as root, or print the command
	@missing=$$(dpkg-query -W -f '$${db:Status-Status} $${Package}\n' $(PACKAGES) 2>/dev/null \
	    | awk '$$1 == "installed" { print $$2 }' | sort > /tmp/nudge-installed.$$$$; \
	  printf '%s\n' $(PACKAGES) | sort | comm -23 - /tmp/nudge-installed.$$$$; rm -f /tmp/nudge-installed.$$$$); \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ]; then \
	    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; \
	  else \
	    echo "missing packages; run: sudo apt-get install -y" $$missing >&2; exit 1; \
	  fi; \
	fi
	@command -v $(SWIFT) > /dev/null || { echo "Swift 6.3 is missing: https://www.swift.org/install" >&2; exit 1; }

tools: ## Install tools from PyPI for some tests, which are skipped without them
	@cmp -s Tests/requirements.txt $(TOOLS)/requirements.txt && cmp -s Tests/requirements-alone.txt $(TOOLS)/requirements-alone.txt \
	  || { python3 -m venv $(TOOLS) \
	    && $(TOOLS)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check -r Tests/requirements.txt \
	    && $(TOOLS)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --no-deps -r Tests/requirements-alone.txt \
	    && cp Tests/requirements.txt Tests/requirements-alone.txt $(TOOLS)/; }

browser: ## Install Chromium as root for the tests of the console's pages, which are skipped without it
	@for program in chromium chromium-browser google-chrome; do [ -x /usr/bin/$$program ] && exit 0; done; \
	  [ "$$(id -u)" = 0 ] || { echo "Chromium is missing; run: sudo apt-get install -y chromium" >&2; exit 1; }; \
	  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium

demo: deps ## Run the whole pipeline on this machine for 20 seconds: 2 minutes from a clone, then 30 s
	$(BUILD)
	"$$($(BUILD) --show-bin-path)/nudge" demo $(DEMO_FLAGS)

unit: deps ## Tests that need no process, no port and no broker, in parallel: 90 s after the build
	$(SWIFT) build --build-tests
	@Tests/Tiers/run unit

test: deps ## Unit tests, servers, embedded broker; with KAFKA_HOME=/path/to/kafka a real one: 6 to 14 min from a clone
	@[ -n "$${KAFKA_HOME:-}" ] || echo "KAFKA_HOME is not set: tests on a real Kafka are skipped (KAFKA_HOME=/path/to/kafka make test)"
	@$(MAKE) --no-print-directory tools || echo "PyPI's tools were not installed: tests that need them are skipped (make tools)"
	$(SWIFT) build --build-tests
	@Tests/Tiers/run unit core

test-all: test ## make test, sanitizers, long chaos, simulation and soak: over an hour; needs KAFKA_HOME
	Tests/trial sanitize
	Tests/trial chaos SEEDS=3
	Tests/trial older LEVEL=next
	Tests/trial upgrade OLDER=.build-older/programs
	Tests/trial simulate SEEDS=20000
	Tests/trial schedules SCHEDULES=20000
	Tests/trial soak MINUTES=10
	Tests/trial containers CONFIGURATION=debug
	NUDGE_HOSTILE_INPUTS=1000000 Tests/Tiers/run --filter HostileInputTests

check: ## The unit tests of one module after a change: make check MODULE=Analyzer
	@[ -n "$(MODULE)" ] && [ -n "$$(find Sources -maxdepth 2 -name '$(MODULE)' -type d)" ] \
	  || { echo "MODULE=$(MODULE): name a folder of Sources/*, as in make check MODULE=Analyzer" >&2; exit 2; }
	NUDGE_TEST_TARGETS=$(MODULE)Tests $(SWIFT) build --product nudgePackageTests
	@NUDGE_TEST_TARGETS=$(MODULE)Tests Tests/Tiers/run unit --filter '^$(MODULE)Tests\.'

bench: deps ## Run the benchmarks; with KAFKA_HOME=/path/to/kafka also those on a real broker
	$(RELEASE)
	cd Benchmarks && $(SWIFT) run -c release nudge-benchmarks $(BENCH_FLAGS)

lint: ## Format, documentation of the public products, and patterns that must not come back
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks/Research Benchmarks/ResearchTests
	$(SWIFT) format lint --strict --recursive --parallel --configuration Tests/Style/public.swift-format $(PUBLIC)
	Tests/Style/closures-in-generics Sources Tests Benchmarks

format: ## Format all sources
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks/Research Benchmarks/ResearchTests

check-deploy: ## Check the Dockerfile, compose file, Kubernetes manifests and alert rules
	@command -v promtool > /dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -q \
	    && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends prometheus; } \
	  || { echo "promtool is missing; run: sudo apt-get install -y prometheus" >&2; exit 1; }
	Deploy/check

docs: deps ## DocC pages of NudgeSchema and NudgeClient, in .build/docs
	SWIFT="$(SWIFT)" Tests/Style/docs
