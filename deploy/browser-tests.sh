#!/usr/bin/env bash
# Runs `end2end/tests` against the debug build, in Chromium. Arguments are passed to Playwright.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
export PLATEN_TEST_PROGRAM=$target/debug/platen PLATEN_TEST_SITE=$target/release/site
export PLATEN_TEST_STRIPE=$target/debug/examples/fake_stripe
cd end2end
exec node_modules/.bin/playwright test "$@"
