#!/usr/bin/env bash
# Builds the files of the dashboard: style sheet, script, WebAssembly module, fonts and images. The program reads them
# from the folder `site` next to its binary. Takes a second if nothing has changed.
#
#   deploy/site.sh          the release build, in target/release/site
#   deploy/site.sh --fast   for development, in target/debug/site: neither optimized nor compressed
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/toolchain.sh

target=${CARGO_TARGET_DIR:-target}
case "${1:-}" in
  '') fast='' cargo_profile=wasm-release compiled=wasm-release site=$target/release/site ;;
  --fast) fast=yes cargo_profile=dev compiled=debug site=$target/debug/site ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
wasm_bindgen=$HOME/.cache/platen/wasm-bindgen/$(locked_version wasm-bindgen)/bin/wasm-bindgen
packages=frontend/node_modules
work=$site-build
mkdir -p "$work"

# A step runs again if its inputs have changed since its last run.
is_done() { [ "$(cat "$work/$1.done" 2>/dev/null)" = "$2" ]; }
done_with() { printf '%s\n' "$2" > "$work/$1.done"; }
state_of() { find "$@" -type f -not -path '*/node_modules/*' -printf '%p %s %T@\n' | sort | sha256sum; }

cargo build --quiet --locked --package platen-frontend --target wasm32-unknown-unknown --profile "$cargo_profile"
module=$target/wasm32-unknown-unknown/$compiled/platen_frontend.wasm

state=$(state_of "$module" deploy/site.sh frontend/package-lock.json)
if ! is_done module "$state"; then
  rm -rf "$work/module"
  "$wasm_bindgen" --target web --no-typescript --out-name platen --out-dir "$work/module" "$module"
  if [ -z "$fast" ]; then
    "$packages/.bin/wasm-opt" -Oz --enable-bulk-memory --enable-multivalue --enable-mutable-globals \
      --enable-nontrapping-float-to-int --enable-reference-types --enable-sign-ext \
      "$work/module/platen_bg.wasm" -o "$work/module/platen_bg.wasm"
  fi
  done_with module "$state"
fi

state=$(state_of "$work/module" deploy/site.sh frontend style public)
if [ ! -d "$site" ] || ! is_done site "$state"; then
  node frontend/build.mjs "$work" "$site" ${fast:+--fast}
  done_with site "$state"
fi
