#!/usr/bin/env bash
# Builds and starts the service as a debug build, and again whenever a source file changes.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/toolchain.sh

target=${CARGO_TARGET_DIR:-target}
service=''
stop() {
  [ -z "$service" ] || { kill "$service" 2>/dev/null && wait "$service" || true; }
  service=''
}
trap stop EXIT
trap exit INT TERM

seen=$(mktemp)
trap 'stop; rm -f "$seen"' EXIT
while true; do
  touch "$seen"
  if deploy/build.sh --fast; then
    stop
    "$target/debug/platen" serve &
    service=$!
  fi
  until [ -n "$(find Cargo.lock Cargo.toml app frontend migrations public server style -newer "$seen" -print -quit)" ]; do
    sleep 0.5
  done
done
