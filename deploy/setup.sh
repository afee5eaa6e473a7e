#!/usr/bin/env bash
# Installs missing packages, and nothing else: the only list of packages, for `make`, CI and the image.
#
#   deploy/setup.sh               what is needed to build and run Platen
#   deploy/setup.sh --test        what `make test` needs in addition
#   deploy/setup.sh --chaos       what `make bench ONLY=chaos` needs in addition to that
#   deploy/setup.sh --only build  one group: build, site (the dashboard), render (browser and fonts), database, test or chaos
#
# Installs on Debian 12, as root or with sudo. On other systems, it lists the missing packages and stops.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") groups="build site render database" ;;
  --test) groups="build site render database test" ;;
  --chaos) groups="build site render database test chaos" ;;
  --only) groups=${2:-} ;;
  *) groups='' ;;
esac
case "$groups" in
  build | site | render | database | test | chaos | *' '*) ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

node_wanted=18
verapdf_version=1.30.2
verapdf_jars=$HOME/.cache/platen/verapdf/lib
schemathesis=$HOME/.cache/platen/schemathesis
# Object stores for tests. Never part of the image: MinIO is licensed under the AGPL.
minio_version=v0.0.0-20260212201848-7aac2a2c5b7c
fake_gcs_version=v1.56.1
go_version=1.26.8
stores=$HOME/.cache/platen/stores
# Validates our requests to Stripe in tests.
stripe_mock_version=v0.203.0
stripe_mock=$HOME/.cache/platen/stripe-mock
# Breaks connections in the benchmark under fault injection.
toxiproxy_version=v2.12.0
toxiproxy=$HOME/.cache/platen/toxiproxy
wasm_target=wasm32-unknown-unknown

say() { printf 'set-up: %s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }
is_root() { [ "$(id -u)" = 0 ]; }

# Requirements. Each line: a name, the Debian packages that provide it, and a check that succeeds if it is installed.

list_needs() {
  for group in $groups; do "needs_of_$group"; done
}

needs_of_build() {
  . deploy/toolchain.sh
  need 'a C compiler' 'gcc libc6-dev' program cc
  need "Rust $rust_wanted or newer" 'rustc-web cargo-web' rust_is_new_enough
  need 'certificates of the public authorities' ca-certificates test -s /etc/ssl/certs/ca-certificates.crt
}

needs_of_site() {
  . deploy/toolchain.sh
  wasm_bindgen=$HOME/.cache/platen/wasm-bindgen/$(locked_version wasm-bindgen)
  # One copy for each lock file, outside of the clones and shared by them: `node_modules` is a symbolic link.
  node_packages_for=run
  [[ " $groups " != *" test "* ]] || node_packages_for=test
  node_packages=$HOME/.cache/platen/node/$(sha256sum frontend/package-lock.json | cut -c 1-16)
  need "Node.js $node_wanted or newer" nodejs node_is_new_enough
  need 'npm' npm program npm
  if rust_is_debians; then
    need 'the linker for WebAssembly' lld-19 program wasm-ld-19
    wasm_library_is_there || need "the source of Rust's standard library" rust-web-src test -d /usr/lib/rustlib/src
  fi
}

needs_of_render() {
  need 'curl' curl program curl
  need 'certificates of the public authorities' ca-certificates test -s /etc/ssl/certs/ca-certificates.crt
  need 'the Chromium headless shell' chromium-headless-shell headless_shell
  need 'fontconfig' fontconfig program fc-list
  need 'Liberation fonts (Arial, Times, Courier)' fonts-liberation font LiberationSans
  need 'DejaVu fonts (symbols)' fonts-dejavu-core font DejaVuSans
  need 'Noto fonts (most scripts)' fonts-noto-core font NotoSansArabic
  need 'Noto fonts for Chinese, Japanese, Korean' fonts-noto-cjk font NotoSansCJK
  need 'Noto colour emoji' fonts-noto-color-emoji font NotoColorEmoji
}

needs_of_database() {
  need 'the PostgreSQL server' postgresql-15 postgres_server
}

needs_of_test() {
  . deploy/toolchain.sh
  # clippy and rustfmt must match the toolchain in use: Debian's packages fit only Debian's Rust.
  local of_debian=''
  if rust_is_debians; then of_debian=yes; fi
  need clippy "${of_debian:+rust-web-clippy}" cargo clippy --version
  need rustfmt "${of_debian:+rustfmt-web}" cargo fmt --version
  need 'poppler-utils' poppler-utils program pdftotext
  need 'qpdf' qpdf program qpdf
  need 'jq' jq program jq
  need 'a JDK (for veraPDF and a webhook receiver)' default-jdk-headless program javac
  need 'Ruby (for a webhook receiver)' ruby program ruby
  need 'PHP (for a webhook receiver and a quick start)' php-cli program php
  need 'libfaketime (clocks that jump)' libfaketime faketime
  verapdf_is_there || need 'Maven (fetches veraPDF)' maven program mvn
  { stores_are_there && stripe_mock_is_there; } || need 'Go (builds object stores and stripe-mock for tests)' golang-go program go
  need 'Python with venv (for Schemathesis and a quick start)' python3-venv python_venv
}

needs_of_chaos() {
  toxiproxy_is_there || need 'Go (builds Toxiproxy)' golang-go program go
}

program() { command -v "$1"; }
node_is_new_enough() { node -e "process.exit(parseInt(process.versions.node) < $node_wanted ? 1 : 0)"; }
# With bitcode; see `add_wasm_library`.
wasm_library_is_there() { grep -qs "\.llvmbc" "$(rustc --print target-libdir --target $wasm_target)"/libstd-*.rlib; }
wasm_bindgen_is_there() { [ -x "$wasm_bindgen/bin/wasm-bindgen" ]; }
node_packages_are_there() { [ -e "$node_packages/for-$node_packages_for" ]; }
postgres_server() { compgen -G '/usr/lib/postgresql/*/bin/postgres' || program postgres; }
headless_shell() { [ -n "${PLATEN_CHROMIUM:-}" ] || program chromium-headless-shell || program chrome-headless-shell; }
faketime() { compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1'; }
python_venv() { python3 -c 'import ensurepip, venv'; }
# The list of packages is copied last, so that it marks a complete installation.
schemathesis_is_there() { cmp -s deploy/schemathesis.txt "$schemathesis/packages.txt"; }
stores_are_there() { [ "$(cat "$stores/versions" 2>/dev/null)" = "$minio_version $fake_gcs_version" ]; }
stripe_mock_is_there() { [ "$(cat "$stripe_mock/versions" 2>/dev/null)" = "$stripe_mock_version" ]; }
toxiproxy_is_there() { [ -x "$toxiproxy/toxiproxy-server" ] && [ "$(cat "$toxiproxy/versions")" = "$toxiproxy_version" ]; }
go_is_new_enough() { [ "$(printf 'go%s\n' "$go_version" "$(go env GOVERSION | sed 's/^go//')" | sort -V | head -n 1)" = "go$go_version" ]; }
verapdf_is_there() { [ -e "$verapdf_jars/cli-$verapdf_version.jar" ]; }
font() {
  [ -n "$(find /usr/share/fonts /usr/local/share/fonts "$HOME/.local/share/fonts" "$HOME/.fonts" -iname "$1*" -print -quit 2>/dev/null)" ]
}

need() {
  local what=$1 debian=$2
  shift 2
  "$@" >/dev/null 2>&1 && return
  missing+=("$what")
  packages+=($debian)
  [ -n "$debian" ] || by_hand+=("$what")
}

find_missing() {
  missing=() packages=() by_hand=()
  list_needs
}

# Installation.

as_root=()
install_packages() {
  [ "$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}")" = "debian 12" ] ||
    fail 'this is not Debian 12: install the missing packages yourself and run it again.'
  [ ${#by_hand[@]} = 0 ] || fail "your Rust toolchain lacks ${by_hand[*]}; with rustup: rustup component add ${by_hand[*]}"
  if ! is_root; then
    command -v sudo >/dev/null || fail "sudo is not installed: as root, run  apt-get install ${packages[*]}"
    as_root=(sudo)
    [ -t 0 ] || as_root+=(-n)
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)

  # Platen starts a PostgreSQL of its own: the package must not create and start Debian's default cluster.
  no_cluster=/etc/postgresql-common/createcluster.d/platen.conf
  case " ${packages[*]} " in *" postgresql-15 "*)
    trap '"${as_root[@]}" rm -f "$no_cluster"' EXIT
    "${as_root[@]}" mkdir -p "${no_cluster%/*}"
    echo 'create_main_cluster = false' | "${as_root[@]}" tee "$no_cluster" >/dev/null ;;
  esac

  local log
  log=$(mktemp)
  { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${packages[@]}"; } >"$log" 2>&1 </dev/null ||
    { cat "$log" >&2; fail 'apt-get failed; see its output above.'; }
  rm -f "$log"
}

# Separate unprivileged users: PostgreSQL and Chromium's sandbox refuse root, and an escaped browser must own nothing.
make_users() {
  is_root || return 0
  local user
  for user in "$@"; do
    id "$user" >/dev/null 2>&1 ||
      useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$user"
  done
}

# rustup downloads it. Debian has only its source, which takes a minute to compile.
add_wasm_library() {
  if ! rust_is_debians; then
    command -v rustup >/dev/null || fail "your Rust toolchain lacks the standard library for $wasm_target"
    rustup --quiet target add $wasm_target || fail "rustup could not fetch the standard library for $wasm_target"
    return
  fi
  say "compiling Rust's standard library for $wasm_target"
  local work library
  work=$(mktemp -d)
  library=$(rustc --print target-libdir --target $wasm_target)
  mkdir "$work/src"
  printf '[package]\nname = "nothing"\nedition = "2024"\n' > "$work/Cargo.toml"
  : > "$work/src/lib.rs"
  # With bitcode, which Cargo omits by default, because link-time optimization needs it.
  (cd "$work" && RUSTC_BOOTSTRAP=1 RUSTFLAGS='-C embed-bitcode=yes' CARGO_TARGET_DIR=target \
    cargo build --quiet --release --target $wasm_target -Zbuild-std=std,panic_abort,proc_macro) ||
    fail "the standard library for $wasm_target could not be compiled"
  rm "$work/target/$wasm_target/release/deps/libnothing"*
  is_root || as_root=(sudo)
  "${as_root[@]}" rm -rf "$library"
  "${as_root[@]}" install -D --mode=644 --target-directory="$library" "$work/target/$wasm_target/release/deps/"lib*.rlib
  rm -rf "$work"
}

# Module and tool must have the same version. The tool runs for a second at a time, so that optimizing it would not pay
# off.
build_wasm_bindgen() {
  say "building wasm-bindgen ${wasm_bindgen##*/} (minutes)"
  CARGO_PROFILE_RELEASE_OPT_LEVEL=0 cargo install --quiet wasm-bindgen-cli --version "=${wasm_bindgen##*/}" \
    --root "$wasm_bindgen" || fail 'wasm-bindgen could not be built; the dashboard needs it.'
}

# Tests need more packages than a run does.
fetch_node_packages() {
  local work omit=''
  say 'fetching packages for Node.js'
  [ $node_packages_for = test ] || omit=--omit=dev
  mkdir -p "${node_packages%/*}"
  work=$(mktemp -d "$node_packages.XXXXXX")
  cp frontend/package.json frontend/package-lock.json frontend/.npmrc "$work"
  (cd "$work" && npm ci --loglevel=error --ignore-scripts $omit >&2) ||
    fail 'npm could not fetch the packages that build the dashboard.'
  touch "$work/for-run" "$work/for-$node_packages_for"
  rm -rf "$node_packages"
  mv "$work" "$node_packages"
}

link_node_packages() {
  local folder
  for folder in frontend end2end; do
    [ ! -d $folder ] || [ "$(readlink $folder/node_modules)" = "$node_packages/node_modules" ] ||
      ln -sfn "$node_packages/node_modules" $folder/node_modules
  done
}

fetch_verapdf() {
  say "fetching veraPDF $verapdf_version"
  local work
  mkdir -p "${verapdf_jars%/*}"
  work=$(mktemp -d "${verapdf_jars%/*}/fetch.XXXXXX")
  cat > "$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>verapdf</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.verapdf.apps</groupId>
      <artifactId>cli</artifactId>
      <version>$verapdf_version</version>
    </dependency>
  </dependencies>
</project>
POM
  mvn -q -B -Dstyle.color=never -f "$work/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
    -DoutputDirectory="$work/lib" || fail 'veraPDF could not be fetched by Maven; the tests of PDF/A validity need it.'
  rm -rf "$verapdf_jars"
  mv "$work/lib" "$verapdf_jars"
  rm -rf "$work"
}

fetch_schemathesis() {
  say 'fetching Schemathesis'
  rm -rf "$schemathesis"
  python3 -m venv "$schemathesis"
  "$schemathesis/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement deploy/schemathesis.txt ||
    fail 'Schemathesis could not be fetched by pip; the tests of the API by its description need it.'
  cp deploy/schemathesis.txt "$schemathesis/packages.txt"
}

fetch_stores() {
  say 'building MinIO and fake-gcs-server (minutes)'
  install_by_go "$stores" "$minio_version $fake_gcs_version" \
    "github.com/minio/minio@$minio_version" "github.com/fsouza/fake-gcs-server@$fake_gcs_version"
}

fetch_stripe_mock() {
  say 'building stripe-mock'
  install_by_go "$stripe_mock" "$stripe_mock_version" "github.com/stripe/stripe-mock@$stripe_mock_version"
}

# Its program is called `server`.
fetch_toxiproxy() {
  say 'building Toxiproxy (a minute)'
  install_by_go "$toxiproxy" "$toxiproxy_version" "github.com/Shopify/toxiproxy/v2/cmd/server@$toxiproxy_version"
  mv "$toxiproxy/server" "$toxiproxy/toxiproxy-server"
}

# Builds programs into a folder, and writes their versions beside them. Debian's Go is too old for some of them; newer
# Go toolchains are available as modules, with the checksums of modules.
install_by_go() (
  folder=$1 versions=$2
  shift 2
  mkdir -p "${folder%/*}"
  work=$(mktemp -d "$folder.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  unset GOROOT
  export GOPATH=$work/go GOCACHE=$work/cache GOBIN=$work/bin GOFLAGS='-modcacherw -trimpath' GOTOOLCHAIN=local CGO_ENABLED=0
  go=go
  if ! go_is_new_enough; then
    toolchain=golang.org/toolchain@v0.0.1-go$go_version.linux-$(go env GOARCH)
    (cd "$work" && go mod download "$toolchain") ||
      fail "Go $go_version could not be fetched; tests and benchmarks need it."
    go=$GOPATH/pkg/mod/$toolchain/bin/go
    chmod -R u+x "${go%/*}" "${go%/bin/go}/pkg/tool"
  fi
  for program in "$@"; do
    (cd "$work" && "$go" install -ldflags='-s -w' "$program") >"$work/log" 2>&1 ||
      { cat "$work/log" >&2; fail "$program could not be built; tests or benchmarks need it."; }
  done
  rm -rf "$folder"
  mkdir "$folder"
  mv "$work/bin/"* "$folder"
  echo "$versions" > "$folder/versions"
)

find_missing
if [ ${#missing[@]} -gt 0 ]; then
  say 'missing:'
  printf '  %s\n' "${missing[@]}" >&2
  install_packages
  hash -r
  find_missing
  [ ${#missing[@]} = 0 ] || fail "still missing after installing: $(printf '%s; ' "${missing[@]}")"
fi
for group in $groups; do
  case $group in
    site)
      wasm_library_is_there >/dev/null || add_wasm_library
      wasm_bindgen_is_there || build_wasm_bindgen
      node_packages_are_there || fetch_node_packages
      link_node_packages
      ;;
    render) make_users platen-browser ;;
    database) make_users platen-db ;;
    test)
      verapdf_is_there || fetch_verapdf
      schemathesis_is_there || fetch_schemathesis
      stores_are_there || fetch_stores
      stripe_mock_is_there || fetch_stripe_mock
      ;;
    chaos) toxiproxy_is_there || fetch_toxiproxy ;;
  esac
done
