# `make run` and `make test` are all that a newcomer needs; `make help` lists the rest.

export CARGO_TARGET_DIR ?= $(HOME)/.cache/platen/target
RUST := . deploy/toolchain.sh &&
PRETTY := frontend end2end style

.DEFAULT_GOAL := help
.PHONY: run watch test bench soak fuzz audit fmt help

run: ## Install what is missing, build, start the service
	@deploy/setup.sh
	@deploy/site.sh
	@$(RUST) cargo build --release --locked
	@exec "$(CARGO_TARGET_DIR)/release/platen" serve

watch: ## The same in a debug build, built and started again at every change
	@deploy/setup.sh
	@deploy/watch.sh

test: ## Everything that CI runs
	@deploy/test.sh

bench: ## Speed and memory against the limits of the same Chromium (QUICK=1: a quick run; ONLY=speed, hostile or mixed-soak: one section)
	@deploy/setup.sh
	@$(RUST) cargo build --release --locked && cargo build --release --locked --package platen-load
	@"$(CARGO_TARGET_DIR)/release/platen-load" $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) \
	  --platen "$(CARGO_TARGET_DIR)/release/platen" --json "$(CARGO_TARGET_DIR)/bench.json"

soak: ## A batch of 10,000 renders while everything fails around it
	@deploy/setup.sh
	@$(RUST) PLATEN_CHAOS_JOBS=10000 cargo test --locked --workspace --test it -- jobs::chaos --nocapture

fuzz: ## Hostile PDFs for an hour; needs a nightly toolchain
	@deploy/fuzz.sh

audit: ## Dependencies: bans, licences, sources, advisories
	@deploy/audit.sh

fmt: ## Format the code
	@$(RUST) cargo fmt --all
	@frontend/node_modules/.bin/prettier --log-level warn --write $(PRETTY)

help: ## This list
	@sed -n 's/^\([a-z]*\): ## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 12
