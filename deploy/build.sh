#!/usr/bin/env bash
# Builds the program and the dashboard's files side by side: each has stretches in which only one crate can be compiled.
#
#   deploy/build.sh          the release build
#   deploy/build.sh --fast   for development, neither optimized nor compressed
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/toolchain.sh

case "${1:-}" in
  '') profile=--release ;;
  --fast) profile='' ;;
  *) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

deploy/site.sh "$@" &
site=$!
trap 'kill "$site" 2>/dev/null || true' EXIT
cargo build --locked $profile
wait "$site"
