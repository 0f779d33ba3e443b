# Nudge. `make demo` shows the pipeline, `make test` tests it; both install missing Debian packages when run as root.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Packages of Debian or Ubuntu for the build and the tests.
PACKAGES := librdkafka-dev libsqlite3-dev libcurl4-openssl-dev libssl-dev libmicrohttpd-dev libnghttp2-dev \
  libsimdjson-dev zlib1g-dev pkg-config python3-jsonschema python3-venv kcat nghttp2-client openssl \
  liblz4-dev

SWIFT ?= swift
DEMO_FLAGS ?=
BENCH_FLAGS ?=
DATA ?=
SEEDS ?= 100000
SEED ?= 1
SCHEDULES ?= 100000
MINUTES ?= 3
BROKERS ?= 1
OLDER ?=
FAULTS ?=
RATE ?=
WEB_PUSH ?=
INCIDENTS ?=
MODULE ?=
CONFIGURATION ?= release

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

.PHONY: help deps tools browser build live firefox test-build kafka-classes unit test test-all check services demo bench train numbers simulate schedules \
  chaos older upgrade network containers soak soak-short mutants night catch-ups explain image reproduce fuzz sanitize newest-librdkafka check-deploy lint \
  format hooks docs build-times ci clean

help: ## Print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 26

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

tools: $(TOOLS)/installed ## Install tools from PyPI for some tests, which are skipped without them

$(TOOLS)/installed: Tests/requirements.txt Tests/requirements-alone.txt
	@mkdir -p .build
	python3 -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check -r Tests/requirements.txt
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check --no-deps -r Tests/requirements-alone.txt
	@touch $@

browser: ## Install Chromium as root for the tests of the console's pages, which are skipped without it
	@for program in chromium chromium-browser google-chrome; do [ -x /usr/bin/$$program ] && exit 0; done; \
	  [ "$$(id -u)" = 0 ] || { echo "Chromium is missing; run: sudo apt-get install -y chromium" >&2; exit 1; }; \
	  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium

build: deps ## Build everything, for debugging
	$(SWIFT) build

test-build: deps
	$(SWIFT) build --build-tests

kafka-classes:
	@[ -z "$${KAFKA_HOME:-}" ] || python3 Tests/Tiers/classes.py "$$KAFKA_HOME" .build

unit: test-build ## Tests that need no process, no port and no broker, in parallel: about a minute after the build
	@Tests/Tiers/run unit

test: deps ## Unit tests, servers, embedded broker; with KAFKA_HOME=/path/to/kafka a real one: 6 to 14 min from a clone
	@[ -n "$${KAFKA_HOME:-}" ] || echo "KAFKA_HOME is not set: tests on a real Kafka are skipped (KAFKA_HOME=/path/to/kafka make test)"
	@$(MAKE) --no-print-directory tools || echo "PyPI's tools were not installed: tests that need them are skipped (make tools)"
	@$(MAKE) --no-print-directory test-build
	@Tests/Tiers/run unit core

test-all: test sanitize ## make test, sanitizers, long chaos, simulation and soak: over an hour; needs KAFKA_HOME
	@$(MAKE) --no-print-directory chaos SEEDS=3
	@$(MAKE) --no-print-directory older LEVEL=next
	@$(MAKE) --no-print-directory upgrade OLDER=.build-older/programs
	@$(MAKE) --no-print-directory simulate SEEDS=20000
	@$(MAKE) --no-print-directory schedules SCHEDULES=20000
	@$(MAKE) --no-print-directory soak MINUTES=10
	@$(MAKE) --no-print-directory containers CONFIGURATION=debug
	NUDGE_HOSTILE_INPUTS=1000000 Tests/Tiers/run --filter HostileInputTests

check: ## The unit tests of one module after a change: make check MODULE=Analyzer
	@[ -n "$(MODULE)" ] && [ -n "$$(find Sources -maxdepth 2 -name '$(MODULE)' -type d)" ] \
	  || { echo "MODULE=$(MODULE): name a folder of Sources/*, as in make check MODULE=Analyzer" >&2; exit 2; }
	NUDGE_TEST_TARGETS=$(MODULE)Tests $(SWIFT) build --product nudgePackageTests
	@NUDGE_TEST_TARGETS=$(MODULE)Tests Tests/Tiers/run unit --filter '^$(MODULE)Tests\.'

services: deps
	$(RELEASE)

demo: CONFIGURATION = debug
demo: deps ## Run the whole pipeline on this machine for 20 seconds: 2 minutes from a clone, then 30 s
	$(BUILD)
	"$$($(BUILD) --show-bin-path)/nudge" demo $(DEMO_FLAGS)

bench: services ## Run the benchmarks; with KAFKA_HOME=/path/to/kafka also those on a real broker
	cd Benchmarks && $(SWIFT) run -c release nudge-benchmarks $(BENCH_FLAGS)

train: deps ## Train the relevance model on DATA=chat.jsonl.gz (docs/relevance.md): a few minutes
	@[ -r "$(DATA)" ] || { echo "DATA=$(DATA): DATA=/path/to/chat.jsonl.gz make train" >&2; exit 2; }
	[ -d .build-train/venv ] || python3 -m venv .build-train/venv
	.build-train/venv/bin/pip install -q -r Sources/Stages/Relevance/Training/requirements.txt
	$(RELEASE) --product nudge
	for names in kept removed-from-message removed; do \
	  "$$($(RELEASE) --show-bin-path)/nudge" relevance "$(DATA)" --names $$names \
	    --features .build-train/$$names.bin; \
	done
	.build-train/venv/bin/python Sources/Stages/Relevance/Training/train.py --kept .build-train/kept.bin \
	  --removed-from-message .build-train/removed-from-message.bin --removed .build-train/removed.bin \
	  --version $$(date +%Y-%m-%d) --output Sources/C/CRelevanceWeights/Weights

numbers:
	@[[ "$(SEED)" =~ ^[0-9]+$$ ]] || { echo "SEED=$(SEED): this must be a whole number from 0 on" >&2; exit 2; }
	@[[ "$(SEEDS)" =~ ^[1-9][0-9]*$$ ]] || { echo "SEEDS=$(SEEDS): this must be a whole number from 1 on" >&2; exit 2; }
	@[[ "$(SCHEDULES)" =~ ^[1-9][0-9]*$$ ]] || { echo "SCHEDULES=$(SCHEDULES): this must be a whole number from 1 on" >&2; exit 2; }
	@[[ "$(MINUTES)" =~ ^[0-9]+(\.[0-9]+)?$$ ]] || { echo "MINUTES=$(MINUTES): this must be a number" >&2; exit 2; }
	@[[ "$(BROKERS)" =~ ^[1-9]$$ ]] || { echo "BROKERS=$(BROKERS): this must be a whole number from 1 to 9" >&2; exit 2; }

simulate: numbers deps ## Simulate SEEDS schedules of crashes, stalls and late requests, from SEED on
	SEEDS=$(SEEDS) SEED=$(SEED) $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build-simulate \
	  --filter SimulationTests/schedules

schedules: numbers deps ## Random days of people with waits, catch-ups, budgets and escalations: SCHEDULES, from SEED on
	SCHEDULES=$(SCHEDULES) SEED=$(SEED) $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build-simulate \
	  --filter AttentionPropertyTests

chaos: SEEDS = 1
chaos: numbers deps ## Chaos on a real broker: MINUTES for each of SEEDS seeds from SEED on; BROKERS=3, FAULTS=cut,kill, RATE=100, WEB_PUSH=50 (percent of devices); needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make chaos" >&2; exit 1; }
	$(SWIFT) build --build-tests -c release -Xswiftc -enable-testing --scratch-path .build-simulate
	OLDER=$(OLDER) FAULTS=$(FAULTS) RATE=$(RATE) WEB_PUSH=$(WEB_PUSH) MINUTES=$(MINUTES) SEED=$(SEED) SEEDS=$(SEEDS) BROKERS=$(BROKERS) $(SWIFT) test --skip-build -c release -Xswiftc -enable-testing \
	  --scratch-path .build-simulate --no-parallel --filter ChaosTests/long

older: REVISION = HEAD
older: LEVEL =
older: deps ## Build the services of REVISION as another version, with LEVEL=next of a later level, for make chaos OLDER=.build-older/programs
	rm -rf .build-older/source && mkdir -p .build-older/source .build-older/programs
	git archive $(REVISION) | tar -x -C .build-older/source
	sed -i -E 's/(current = ")[^"]*/\10.0.1-other/' .build-older/source/Sources/*/ServiceKit/NudgeVersion.swift
	[ -z "$(LEVEL)" ] || Tests/Upgrade/next-level $(if $(filter hasty,$(LEVEL)),--hasty) .build-older/source
	for program in nudge nudge-ingest nudge-analyzer nudge-dispatcher fcm-emulator; do \
	  $(SWIFT) build --package-path .build-older/source --scratch-path .build-older/build -c release --product $$program; \
	  cp "$$($(SWIFT) build --package-path .build-older/source --scratch-path .build-older/build -c release --show-bin-path)/$$program" \
	    .build-older/programs/; \
	done

upgrade: services ## Roll from this release to OLDER (make older LEVEL=next) and back under load, and finalise; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make upgrade" >&2; exit 1; }
	@[ -d "$(OLDER)" ] || { echo "OLDER=$(OLDER): OLDER=.build-older/programs make upgrade, after make older LEVEL=next" >&2; exit 2; }
	Tests/Upgrade/upgrade.py "$$($(RELEASE) --show-bin-path)" "$(OLDER)"

network: NETWORK_FLAGS =
network: services ## Cut services, brokers and FCM from each other in network namespaces, MINUTES from a SEED; needs root, iproute2, iptables, kcat and KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make network" >&2; exit 1; }
	Tests/Network/network.py "$$($(RELEASE) --show-bin-path)" --seed $(SEED) --minutes $(MINUTES) $(NETWORK_FLAGS)

firefox: FIREFOX_FLAGS = --messages 1000 --kills 20 --offline 60
firefox: services tools ## A conversation in a real Firefox by Web Push, through kills and a time offline; needs KAFKA_HOME, firefox-esr, ../shared/webpush
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make firefox" >&2; exit 1; }
	$(TOOLS)/bin/python Tests/Browser/conversation.py --programs "$$($(RELEASE) --show-bin-path)" $(FIREFOX_FLAGS)

live: LIVE_FLAGS =
live: services ## Streams of GET /v1/live that break, and processes that are killed, under messages; needs KAFKA_HOME, Python's cryptography
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make live" >&2; exit 1; }
	Tests/Live/live.py --programs "$$($(RELEASE) --show-bin-path)" --breaks 20 --kills 4 --hostile 500 $(LIVE_FLAGS)

containers: deps tools ## Run docker-compose.yml with podman; skipped without podman, runc, root or KAFKA_HOME
	$(BUILD)
	$(TOOLS)/bin/python Tests/Containers/containers.py "$$($(BUILD) --show-bin-path)"

soak: MINUTES = 30
soak: SOAK_FLAGS =
soak: numbers services ## MINUTES of steady load on a real broker, with flat memory and a balanced account; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make soak" >&2; exit 1; }
	Tests/Soak/soak.py --programs "$$($(RELEASE) --show-bin-path)" --minutes $(MINUTES) --wake-ups 5000 $(SOAK_FLAGS)

soak-short: SOAK_FLAGS =
soak-short: services ## The same for 100 s, with a tenth of the wake-ups in all services together; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make soak-short" >&2; exit 1; }
	Tests/Soak/soak.py --programs "$$($(RELEASE) --show-bin-path)" --minutes 1.6 --all-wake-ups 100000 $(SOAK_FLAGS)

mutants: MUTANTS_FLAGS =
mutants: deps ## Plants some 160 defects, one at a time, and prints which test finds each and how fast; --list checks that they fit
	Tests/Mutants/mutants.py $(MUTANTS_FLAGS)

night: services ## Rehearse a night on call: alerts find incidents, the runbook fixes them; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make night" >&2; exit 1; }
	@command -v prometheus > /dev/null || { echo "prometheus is missing; run: sudo apt-get install -y prometheus" >&2; exit 1; }
	Tests/Night/night.py --programs "$$($(RELEASE) --show-bin-path)" $(INCIDENTS)

catch-ups: PEOPLE = 100000
catch-ups: services ## Quiet hours of PEOPLE people end in the same minute: their catch-ups are spread; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make catch-ups" >&2; exit 1; }
	Tests/Night/catch_ups.py --programs "$$($(RELEASE) --show-bin-path)" --people $(PEOPLE)

explain: deps ## Time nudge explain for a message of yesterday among 10 million; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make explain" >&2; exit 1; }
	$(RELEASE) --product nudge
	Tests/Explain/explain.py --programs "$$($(RELEASE) --show-bin-path)"

image: ## Build the image with buildah, without a registry, and send a message through it; root, KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make image" >&2; exit 1; }
	@[ "$$(id -u)" = 0 ] || { echo "buildah, debootstrap and chroot need root: sudo -E make image" >&2; exit 1; }
	@{ command -v buildah && command -v debootstrap && command -v kcat; } > /dev/null || { apt-get update -q \
	    && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends buildah debootstrap kcat; }
	Deploy/try-image

reproduce: deps ## Build PROGRAM twice from nothing and compare: nudge-dispatcher unless named; some minutes
	SWIFT="$(SWIFT)" Deploy/reproduce $(or $(PROGRAM),nudge-dispatcher)

fuzz: SECONDS = 60
fuzz: deps ## Fuzz what strangers send (HTTP API, answers, addresses) for SECONDS; new inputs go to Tests/Corpus/fuzz
	$(SWIFT) build --package-path Tests/Fuzz --scratch-path .build-fuzz -c release \
	  -Xswiftc -enable-testing -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld --product nudge-fuzz
	@mkdir -p .build-fuzz/corpus
	@# libFuzzer keeps the input that a crash comes from only where no other handler, such as Swift's, takes the signal.
	SWIFT_BACKTRACE=enable=no \
	  "$$($(SWIFT) build --package-path Tests/Fuzz --scratch-path .build-fuzz -c release --show-bin-path)/nudge-fuzz" \
	  -max_total_time=$(SECONDS) -timeout=5 -max_len=8192 -print_final_stats=1 -artifact_prefix=.build-fuzz/ \
	  .build-fuzz/corpus Tests/Corpus/fuzz
	@# Keep only inputs that reach new code.
	"$$($(SWIFT) build --package-path Tests/Fuzz --scratch-path .build-fuzz -c release --show-bin-path)/nudge-fuzz" \
	  -merge=1 -max_len=2048 Tests/Corpus/fuzz .build-fuzz/corpus

sanitize: deps ## Run ThreadSanitizer, then AddressSanitizer: about 25 minutes (docs/sanitizers.md)
	Tests/Sanitize/run thread
	Tests/Sanitize/run address

# Suites that use librdkafka with a broker, and one of the whole pipeline.
RDKAFKA_SUITES := ^KafkaTests\.|StreamRuntimeTests\.(RealServiceTests|HostileTests|LostStateTests|LagMonitorTests|EmbeddedServiceTests)|IntegrationTests\.ScaleTests
NEWEST := .build/librdkafka

newest-librdkafka: deps ## Run suites on a real broker with the newest librdkafka of PyPI; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make newest-librdkafka" >&2; exit 1; }
	@# The wheel of Confluent's Python client contains the library with its dependencies.
	rm -rf $(NEWEST) && mkdir -p $(NEWEST)
	[ -x $(TOOLS)/bin/pip ] || python3 -m venv $(TOOLS)
	$(TOOLS)/bin/pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: -d $(NEWEST) confluent-kafka
	cd $(NEWEST) && python3 -m zipfile -e confluent_kafka-*.whl . && ln -s confluent_kafka.libs/librdkafka-*.so.1 librdkafka.so.1
	$(SWIFT) build --build-tests
	LD_LIBRARY_PATH="$(CURDIR)/$(NEWEST)$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}" \
	  $(SWIFT) test --skip-build --no-parallel --filter '$(RDKAFKA_SUITES)'

check-deploy: ## Check the Dockerfile, compose file, Kubernetes manifests and alert rules
	@command -v promtool > /dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -q \
	    && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends prometheus; } \
	  || { echo "promtool is missing; run: sudo apt-get install -y prometheus" >&2; exit 1; }
	Deploy/check

lint: ## Format, documentation of the public products, and patterns that must not come back
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks/Research Benchmarks/ResearchTests
	$(SWIFT) format lint --strict --recursive --parallel --configuration Tests/Style/public.swift-format $(PUBLIC)
	Tests/Style/closures-in-generics Sources Tests Benchmarks

format: ## Format all sources
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks/Research Benchmarks/ResearchTests

hooks: ## Install the pre-commit hook: format and style of what is staged
	git config core.hooksPath Tests/Style/hooks

docs: deps ## DocC pages of NudgeSchema and NudgeClient, in .build/docs
	SWIFT="$(SWIFT)" Tests/Style/docs

build-times: deps ## Build from nothing, and print lines, seconds and CPU of each module; CONFIGURATION=debug
	SWIFT="$(SWIFT)" Tests/Style/build-times $(CONFIGURATION) -Xswiftc -num-threads -Xswiftc 2

ci: ## What CI runs
	.ci/run

clean: ## Remove build products
	rm -rf .build .build-simulate .build-train .build-fuzz .build-image .build-containers .build-thread .build-address .build-older .build-mutants .build-times
