#!/usr/bin/env bash
# Fuzzes server/pdf for FUZZ_SECONDS (default: one hour), seeded with the fixtures of its tests. Findings are written to
# server/pdf/fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/toolchain.sh

if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
  echo 'make fuzz needs a nightly toolchain and cargo-fuzz:' >&2
  echo '  rustup toolchain install nightly && cargo +nightly install cargo-fuzz' >&2
  exit 1
fi
seeds=${CARGO_TARGET_DIR:?}/fuzz/seeds
mkdir -p "$seeds"
cp server/pdf/tests/fixtures/*.pdf "$seeds"
cd server/pdf/fuzz
cargo +nightly fuzz run assemble --fuzz-dir . "$seeds" -- -max_total_time="${FUZZ_SECONDS:-3600}" -rss_limit_mb=2048
