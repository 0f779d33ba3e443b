# Nudge. `make demo` shows it at work, `make test` proves it; both install missing Debian packages when root.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# What the build and the tests need from Debian or Ubuntu.
PACKAGES := librdkafka-dev libsqlite3-dev libcurl4-openssl-dev libssl-dev libmicrohttpd-dev libnghttp2-dev \
  libsimdjson-dev zlib1g-dev pkg-config python3-jsonschema python3-venv kcat nghttp2-client openssl \
  liblz4-dev

SWIFT ?= swift
DEMO_FLAGS ?=
BENCH_FLAGS ?=
DATA ?=
SEEDS ?= 100000
SEED ?= 1
MINUTES ?= 3
BROKERS ?= 1
OLDER ?=
INCIDENTS ?=

# Programs of PyPI that some tests run.
TOOLS := .build/python

.PHONY: help deps tools build services test demo bench train lint check-deploy format ci numbers simulate chaos older soak soak-short mutants night explain image fuzz \
  sanitize newest-librdkafka clean

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

deps: ## Install missing packages (as root), or say how
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

tools: $(TOOLS)/installed ## Install what some tests take from PyPI; without it they are skipped

$(TOOLS)/installed: Tests/requirements.txt
	@mkdir -p .build
	python3 -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check -r Tests/requirements.txt
	@touch $@

build: deps ## Build everything, for debugging
	$(SWIFT) build

test: deps ## All tests; with KAFKA_HOME=/path/to/kafka also those on a real broker
	@[ -n "$${KAFKA_HOME:-}" ] || echo "KAFKA_HOME is not set: the suites on a real Kafka are skipped (KAFKA_HOME=/path/to/kafka make test)"
	@$(MAKE) --no-print-directory tools || echo "what PyPI has was not installed: the tests that need it are skipped (make tools)"
	$(SWIFT) build --build-tests
	@# One test at a time: many of them run processes, brokers and waits that would starve each other on two cores.
	@# Whoever reads the end of the log finds what failed there.
	@status=0; $(SWIFT) test --skip-build --no-parallel 2>&1 | tee .build/test.log || status=$$?; \
	  if [ $$status != 0 ]; then \
	    echo; echo "What failed (all of it: .build/test.log):"; \
	    { grep -aE -A3 '^✘ .*(recorded an issue|: error: )|^\S+: error: |Fatal error|unexpected signal' .build/test.log || true; } \
	      | cut -c1-500 | head -n 80; \
	  fi; exit $$status

services: deps
	$(SWIFT) build -c release --product nudge-ingest
	$(SWIFT) build -c release --product nudge-analyzer
	$(SWIFT) build -c release --product nudge-dispatcher
	$(SWIFT) build -c release --product fcm-emulator

demo: services ## The pipeline at work: embedded broker, FCM emulator, three services, a chat log as load
	$(SWIFT) build -c release --product nudge
	"$$($(SWIFT) build -c release --show-bin-path)/nudge" demo $(DEMO_FLAGS)

bench: services ## Benchmarks, in one run on this machine; with KAFKA_HOME=/path/to/kafka also those on a real broker
	cd Benchmarks && $(SWIFT) run -c release nudge-benchmarks $(BENCH_FLAGS)

train: deps ## The relevance model's weights anew, from DATA=chat.jsonl.gz (docs/relevance.md); takes a few minutes
	@[ -r "$(DATA)" ] || { echo "DATA=$(DATA): DATA=/path/to/chat.jsonl.gz make train" >&2; exit 2; }
	[ -d .build-train/venv ] || python3 -m venv .build-train/venv
	.build-train/venv/bin/pip install -q -r Sources/Stages/Relevance/Training/requirements.txt
	$(SWIFT) build -c release --product nudge
	for names in kept removed-from-message removed; do \
	  "$$($(SWIFT) build -c release --show-bin-path)/nudge" relevance "$(DATA)" --names $$names \
	    --features .build-train/$$names.bin; \
	done
	.build-train/venv/bin/python Sources/Stages/Relevance/Training/train.py --kept .build-train/kept.bin \
	  --removed-from-message .build-train/removed-from-message.bin --removed .build-train/removed.bin \
	  --version $$(date +%Y-%m-%d) --output Sources/Stages/Relevance/Weights/RelevanceWeights.swift

numbers:
	@[[ "$(SEED)" =~ ^[0-9]+$$ ]] || { echo "SEED=$(SEED): this must be a whole number from 0 on" >&2; exit 2; }
	@[[ "$(SEEDS)" =~ ^[1-9][0-9]*$$ ]] || { echo "SEEDS=$(SEEDS): this must be a whole number from 1 on" >&2; exit 2; }
	@[[ "$(MINUTES)" =~ ^[0-9]+(\.[0-9]+)?$$ ]] || { echo "MINUTES=$(MINUTES): this must be a number" >&2; exit 2; }
	@[[ "$(BROKERS)" =~ ^[1-9]$$ ]] || { echo "BROKERS=$(BROKERS): this must be a whole number from 1 to 9" >&2; exit 2; }

simulate: numbers deps ## SEEDS schedules of crashes, stalls and late requests, from SEED on
	SEEDS=$(SEEDS) SEED=$(SEED) $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build-simulate \
	  --filter SimulationTests/schedules

chaos: SEEDS = 1
chaos: numbers deps ## MINUTES of kills, stops, cuts, full disks, restarts for each of SEEDS seeds from SEED on; BROKERS=3; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make chaos" >&2; exit 1; }
	$(SWIFT) build --build-tests -c release -Xswiftc -enable-testing --scratch-path .build-simulate
	OLDER=$(OLDER) MINUTES=$(MINUTES) SEED=$(SEED) SEEDS=$(SEEDS) BROKERS=$(BROKERS) $(SWIFT) test --skip-build -c release -Xswiftc -enable-testing \
	  --scratch-path .build-simulate --no-parallel --filter ChaosTests/long

older: REVISION = HEAD
older: deps ## The services of REVISION as another version, for make chaos OLDER=.build-older/programs: rolling upgrades and rollbacks
	rm -rf .build-older/source && mkdir -p .build-older/source .build-older/programs
	git archive $(REVISION) | tar -x -C .build-older/source
	sed -i -E 's/(current = ")[^"]*/\10.0.1-other/' .build-older/source/Sources/*/ServiceKit/NudgeVersion.swift
	for program in nudge-ingest nudge-analyzer nudge-dispatcher fcm-emulator; do \
	  $(SWIFT) build --package-path .build-older/source --scratch-path .build-older/build -c release --product $$program; \
	  cp "$$($(SWIFT) build --package-path .build-older/source --scratch-path .build-older/build -c release --show-bin-path)/$$program" \
	    .build-older/programs/; \
	done

soak: MINUTES = 30
soak: SOAK_FLAGS =
soak: numbers services ## MINUTES of steady load on a real broker: no process ends, memory stays flat, all is accounted for; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make soak" >&2; exit 1; }
	$(SWIFT) build -c release --product nudge
	Tests/Soak/soak.py --programs "$$($(SWIFT) build -c release --show-bin-path)" --minutes $(MINUTES) --wake-ups 1000000 $(SOAK_FLAGS)

soak-short: SOAK_FLAGS =
soak-short: services ## The same for 100 s, with a tenth of the wake-ups in all services together; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make soak-short" >&2; exit 1; }
	$(SWIFT) build -c release --product nudge
	Tests/Soak/soak.py --programs "$$($(SWIFT) build -c release --show-bin-path)" --minutes 1.6 --all-wake-ups 100000 $(SOAK_FLAGS)

mutants: MUTANTS_FLAGS =
mutants: deps ## Plants some 160 defects, one at a time, and prints which test finds each and how fast; --list checks that they fit
	Tests/Mutants/mutants.py $(MUTANTS_FLAGS)

night: services ## A scripted night on call: things go wrong, alerts find them, the runbook mends them; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make night" >&2; exit 1; }
	@command -v prometheus > /dev/null || { echo "prometheus is missing; run: sudo apt-get install -y prometheus" >&2; exit 1; }
	$(SWIFT) build -c release --product nudge
	Tests/Night/night.py --programs "$$($(SWIFT) build -c release --show-bin-path)" $(INCIDENTS)

explain: deps ## How long nudge explain takes for a message of yesterday among 10 million others; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make explain" >&2; exit 1; }
	$(SWIFT) build -c release --product nudge
	Tests/Explain/explain.py --programs "$$($(SWIFT) build -c release --show-bin-path)"

image: ## Deploy/Dockerfile built by buildah without a registry, and a message through what it makes; root, KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make image" >&2; exit 1; }
	@[ "$$(id -u)" = 0 ] || { echo "buildah, debootstrap and chroot need root: sudo -E make image" >&2; exit 1; }
	@command -v buildah debootstrap kcat > /dev/null || { apt-get update -q \
	    && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends buildah debootstrap kcat; }
	Deploy/try-image

fuzz: SECONDS = 60
fuzz: deps ## libFuzzer for SECONDS on all that the HTTP API reads; what it finds goes to Tests/Corpus/http-inputs
	$(SWIFT) build --package-path Tests/Fuzz --scratch-path .build-fuzz -c release \
	  -Xswiftc -enable-testing -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld --product nudge-fuzz
	@mkdir -p .build-fuzz/corpus
	"$$($(SWIFT) build --package-path Tests/Fuzz --scratch-path .build-fuzz -c release --show-bin-path)/nudge-fuzz" \
	  -max_total_time=$(SECONDS) -timeout=5 -max_len=8192 -print_final_stats=1 \
	  .build-fuzz/corpus Tests/Corpus/http-inputs
	@# Only what takes a way of its own is kept.
	"$$($(SWIFT) build --package-path Tests/Fuzz --scratch-path .build-fuzz -c release --show-bin-path)/nudge-fuzz" \
	  -merge=1 -max_len=2048 Tests/Corpus/http-inputs .build-fuzz/corpus

sanitize: deps ## The suites that allow it under ThreadSanitizer, then AddressSanitizer; some 25 minutes (docs/sanitizers.md)
	Tests/Sanitize/run thread
	Tests/Sanitize/run address

# Suites that talk to a broker through librdkafka, and one through the whole pipeline.
RDKAFKA_SUITES := ^KafkaTests\.|StreamRuntimeTests\.(RealServiceTests|HostileTests|LostStateTests|LagMonitorTests|EmbeddedServiceTests)|IntegrationTests\.ScaleTests
NEWEST := .build/librdkafka

newest-librdkafka: deps ## The suites on a real broker with PyPI's newest librdkafka; needs KAFKA_HOME
	@[ -n "$${KAFKA_HOME:-}" ] || { echo "KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka make newest-librdkafka" >&2; exit 1; }
	@# The wheel of Confluent's client for Python has the library, with all it needs inside.
	rm -rf $(NEWEST) && mkdir -p $(NEWEST)
	[ -x $(TOOLS)/bin/pip ] || python3 -m venv $(TOOLS)
	$(TOOLS)/bin/pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: -d $(NEWEST) confluent-kafka
	cd $(NEWEST) && python3 -m zipfile -e confluent_kafka-*.whl . && ln -s confluent_kafka.libs/librdkafka-*.so.1 librdkafka.so.1
	$(SWIFT) build --build-tests
	LD_LIBRARY_PATH="$(CURDIR)/$(NEWEST)$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}" \
	  $(SWIFT) test --skip-build --no-parallel --filter '$(RDKAFKA_SUITES)'

check-deploy: ## Dockerfile, compose file, Kubernetes manifests, alert rules, by the tools of their trade
	@command -v promtool > /dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -q \
	    && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends prometheus; } \
	  || { echo "promtool is missing; run: sudo apt-get install -y prometheus" >&2; exit 1; }
	Deploy/check

lint: ## Format, and patterns that must not come back
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests
	Tests/Style/closures-in-generics Sources Tests Benchmarks/Sources

format: ## Format all sources
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

ci: ## What CI runs
	.ci/run

clean: ## Remove what was built
	rm -rf .build .build-simulate .build-train .build-fuzz .build-image .build-thread .build-address .build-older .build-mutants
