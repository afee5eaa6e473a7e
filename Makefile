# `make run` and `make test` are enough to start with; `make help` lists all targets.

export CARGO_TARGET_DIR ?= $(HOME)/.cache/platen/target
RUST := . deploy/toolchain.sh &&
PRETTY := frontend end2end style

.DEFAULT_GOAL := help
.PHONY: run watch test bench soak fuzz audit fmt help

run: ## Install missing packages, build and start the service
	@deploy/setup.sh
	@deploy/build.sh
	@exec "$(CARGO_TARGET_DIR)/release/platen" serve

watch: ## The same with a debug build that is rebuilt and restarted on every change
	@deploy/setup.sh
	@deploy/watch.sh

test: ## Run everything that CI runs
	@deploy/test.sh

bench: ## Benchmark against the limits of the same Chromium (QUICK=1: a quick run; ONLY=speed, completion, hostile, mixed-soak, batch, scale, rates, chaos, history or, with PREVIOUS=COMMIT, upgrade: one section)
	@deploy/setup.sh $(if $(filter batch,$(ONLY)),--test) $(if $(filter chaos,$(ONLY)),--chaos)
	@$(if $(filter upgrade,$(ONLY)),deploy/previous.sh $(PREVIOUS) >/dev/null)
	@$(RUST) cargo build --release --locked && cargo build --release --locked --package platen-load
	@$(if $(filter history,$(ONLY)),deploy/site.sh)
	@"$(CARGO_TARGET_DIR)/release/platen-load" $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) \
	  $(if $(filter upgrade,$(ONLY)),--previous-platen "$$(deploy/previous.sh $(PREVIOUS))") \
	  --platen "$(CARGO_TARGET_DIR)/release/platen" --json "$(CARGO_TARGET_DIR)/bench.json"

soak: ## Run a batch of 10,000 renders under fault injection
	@deploy/setup.sh
	@$(RUST) PLATEN_CHAOS_JOBS=10000 cargo test --locked --workspace --test it -- jobs::chaos --nocapture

fuzz: ## Fuzz the PDF parser for an hour; needs a nightly toolchain
	@deploy/fuzz.sh

audit: ## Check dependencies: bans, licences, sources, advisories
	@deploy/audit.sh

fmt: ## Format the code
	@$(RUST) cargo fmt --all
	@frontend/node_modules/.bin/prettier --log-level warn --write $(PRETTY)

help: ## Show this list
	@sed -n 's/^\([a-z]*\): ## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 12
