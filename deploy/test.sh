#!/usr/bin/env bash
# Runs everything that CI runs, cheap steps first, and stops at the first failure. Prints the time of each step.
set -euo pipefail
cd "$(dirname "$0")/.."

times=''
step() {
  local name=$1 from=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if ! "$@"; then
    printf '\n== %s FAILED after %d s: %s\n' "$name" $((SECONDS - from)) "$*"
    exit 1
  fi
  local line
  line=$(printf '%6d s  %s' $((SECONDS - from)) "$name")
  printf '%s\n' "$line"
  times+=$line$'\n'
}

# Removes what the compiler keeps for incremental builds of packages that no build of the last day has had: a changed
# dependency leaves gigabytes of it. Fails if the disk would be full before the end.
make_room() {
  local target=${CARGO_TARGET_DIR:-target} needed=12 free folder
  find "$target/debug/incremental" -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -rf {} + 2>/dev/null || true
  mkdir -p "$target"
  for folder in "$target" /tmp; do
    free=$(($(df --output=avail --block-size=M "$folder" | tail -n 1 | tr -dc 0-9) / 1024))
    if ((free < needed)); then
      echo "The tests need $needed GiB of free disk space in $folder, and $free GiB are free: remove files there." >&2
      return 1
    fi
  done
}

step 'disk space' make_room
step 'set-up' deploy/setup.sh --test
. deploy/toolchain.sh
step 'format' cargo fmt --all --check
step 'format of scripts and styles' frontend/node_modules/.bin/prettier --log-level warn --check frontend end2end style
step 'types of scripts' end2end/node_modules/.bin/tsc --project end2end
step 'types of the site' frontend/node_modules/.bin/tsc --project frontend
step 'manifests' deploy/check-manifests.sh
step 'clippy and queries' deploy/sqlx-prepare.sh --check
# The following steps use one set of packages and features, so that nothing is built twice.
step 'unit tests' cargo test --locked --workspace --lib --bins
step 'documentation tests' cargo test --locked --workspace --doc
step 'examples' cargo build --locked --workspace --examples
step 'integration tests' cargo test --locked --workspace --test '*'
step 'API by its description' deploy/schemathesis.sh
step 'site' deploy/site.sh
step 'browser tests' deploy/browser-tests.sh

printf '\n%s%6d s  in all\n' "$times" "$SECONDS"
