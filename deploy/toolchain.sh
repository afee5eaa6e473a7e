# Sourced (POSIX sh) from the project's top folder. Puts a sufficiently new Rust toolchain first on PATH: the one on
# PATH if it qualifies, else the one in rustup's default folder, else Debian's. If there is none, PATH stays unchanged
# and `rust_is_new_enough` fails.

rust_wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)

rust_is_new_enough() {
  cargo --version >/dev/null 2>&1 || return 1
  rust_found=$(rustc --version 2>/dev/null | cut -d ' ' -f 2)
  [ "$(printf '%s\n' "$rust_wanted" "${rust_found:-0}" | sort -V | head -n 1)" = "$rust_wanted" ]
}

find_rust() {
  rust_is_new_enough && return
  path_before=$PATH
  for folder in "$HOME/.cargo/bin" /usr/bin; do
    PATH="$folder:$path_before"
    rust_is_new_enough && return
  done
  PATH=$path_before
}

# Succeeds if the toolchain is Debian's, whose components are Debian packages, or if there is none.
rust_is_debians() {
  [ "$(command -v rustc)" = /usr/bin/rustc ] || ! rust_is_new_enough
}

# Prints the version of a package in Cargo.lock, for tools that must match it.
locked_version() {
  sed -n "/^name = \"$1\"\$/{n;s/^version = \"\(.*\)\"\$/\1/p}" Cargo.lock
}

find_rust
export PATH
if rust_is_debians; then
  # It doesn't include a linker for the dashboard's module.
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-19
fi
