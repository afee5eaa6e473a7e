#!/usr/bin/env bash
# Checks the dependencies against deny.toml. Builds cargo-deny into the cache if it is not on PATH, which takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/toolchain.sh

PATH="$PATH:$HOME/.cache/platen/tools/bin"
command -v cargo-deny >/dev/null || cargo install --locked --root "$HOME/.cache/platen/tools" cargo-deny
cargo deny --workspace check bans licenses sources

# The advisories are in a separate git repository, which some networks block.
advisories=$(sed -n 's/^db-urls = \["\(.*\)"\]$/\1/p' deny.toml)
if GIT_TERMINAL_PROMPT=0 timeout 20 git ls-remote --quiet "$advisories" HEAD >/dev/null 2>&1; then
  cargo deny --workspace check advisories
else
  echo "advisories NOT checked: $advisories cannot be reached from here" >&2
fi
