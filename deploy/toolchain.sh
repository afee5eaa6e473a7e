# To be sourced (POSIX sh), from the project's top folder: puts a Rust toolchain that is new enough first on PATH.
# The one on PATH is taken if it will do, else rustup's usual folder, else Debian's. Without any, PATH stays as it is
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

# Whether that is Debian's Rust, whose parts are Debian's packages, or none.
rust_is_debians() {
  [ "$(command -v rustc)" = /usr/bin/rustc ] || ! rust_is_new_enough
}

# The version of a package in Cargo.lock, for tools that have to be the same.
locked_version() {
  sed -n "/^name = \"$1\"\$/{n;s/^version = \"\(.*\)\"\$/\1/p}" Cargo.lock
}

find_rust
export PATH
if rust_is_debians; then
  # It comes without the linker of the dashboard's module.
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-19
fi
