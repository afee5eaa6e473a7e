#!/usr/bin/env bash
# Builds `platen-simulated` of a previous version for `make bench ONLY=upgrade`, and prints the path of the binary. Only the binary
# of the last commit is kept.
#
#   deploy/previous.sh          the last release
#   deploy/previous.sh COMMIT   a commit or tag
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/toolchain.sh

fail() { printf 'previous version: %s; name one: make bench ONLY=upgrade PREVIOUS=COMMIT\n' "$*" >&2; exit 1; }

named=${1:-$(git describe --tags --abbrev=0 HEAD^ 2>/dev/null)} || fail 'no release has a tag'
commit=$(git rev-parse --verify --quiet "$named^{commit}") || fail "this repository has no commit $named"
versions=$HOME/.cache/platen/previous
folder=$versions/$commit
binary=$folder/platen-simulated

# A second run waits until the first has built.
mkdir -p "$versions"
exec 9>"$versions.lock"
flock 9
if [ ! -x "$binary" ]; then
  target=$(realpath -m "${CARGO_TARGET_DIR:-$HOME/.cache/platen/target}")
  rm -rf "$folder"
  trap 'rm -rf "$folder/source"' EXIT
  mkdir -p "$folder/source"
  git archive "$commit" | tar -x -C "$folder/source"
  # In a shared target folder, Cargo distinguishes checkouts of a workspace only by the versions of their packages, and would take
  # what it has built from one for up to date in the other. It adds the version to the archive's lock file, hence no `--locked`.
  sed -i "s/^version = \"\(.*\)\"$/version = \"\1+$commit\"/" "$folder/source/Cargo.toml"
  (cd "$folder/source" && CARGO_TARGET_DIR=$target cargo build --release --package platen-load --bin platen-simulated) >&2 9>&-
  # The next build of another version replaces it there.
  cp "$target/release/platen-simulated" "$folder/draft"
  mv "$folder/draft" "$binary"
  find "$versions" -mindepth 1 -maxdepth 1 ! -name "$commit" -exec rm -rf {} +
fi
printf '%s\n' "$binary"
