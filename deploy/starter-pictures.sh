#!/usr/bin/env bash
# Writes the pictures of the starters, public/img/starter-*.webp: the first page of each with its sample data; and those of
# the document on the landing page, public/img/invoice-*.webp. Run it after changing a starter, or the landing page's
# request, and commit the result.
#
#   deploy/starter-pictures.sh [PROGRAM]   default: the debug build
#
# It starts the program with a temporary database, and needs the packages of deploy/setup.sh --test.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-${CARGO_TARGET_DIR:-target}/debug/platen}
starters=server/domain/src/template/demos
# At least twice the size of the picture's frame in the dialog, in pixels.
width=400 height=320

work=$(mktemp -d)
service=''
finish() {
  [ -z "$service" ] || { kill "$service" && wait "$service"; } 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

# The sandboxed processes run as other users.
chmod 711 "$work"
mkdir "$work/pictures"
PLATEN_DATA_DIR=$work/data PLATEN_LISTEN=127.0.0.1:0 "$program" serve >"$work/log" 2>&1 &
service=$!
for _ in {1..120}; do
  ! grep -q '^Platen is ready' "$work/log" || break
  kill -0 "$service" 2>/dev/null || break
  sleep 0.5
done
key=$(grep -om 1 'pk_live_[0-9A-Za-z]*' "$work/log") || { cat "$work/log" >&2; exit 1; }
address=$(sed -n 's/^Platen is ready at //p' "$work/log")

call() {
  curl -fsS "$address/api/v1/templates$1" --header "Authorization: Bearer $key" --json @-
}

preview() {
  jq -n --argjson dots "$1" '{dots_per_inch: $dots, options: {prefer_css_page_size: true}}' | call "/$id/preview"
}

for starter in "$starters"/*.html; do
  name=$(basename "$starter" .html)
  id=$(jq -n --rawfile content "$starter" --slurpfile data "$starters/$name.json" --arg name "$name" \
    '{template: {name: $name, content: $content, preview_context: $data[0]}}' | call '' | jq -r .data.id)
  dots=$(preview 96 | jq --argjson width $width --argjson height $height \
    '.data.pages[0] | [$width / .width, $height / .height] | min * 96 | floor')
  preview "$dots" | jq -r '.data.pages[0].png' | base64 -d >"$work/pictures/starter-$name.png"
done
curl -fsS "$address/api/v1/renderers/pdf" --header "Authorization: Bearer $key" \
  --json @app/src/pages/landing/press.json --output "$work/press.pdf"
pdftoppm -r 144 -png "$work/press.pdf" "$work/pictures/invoice"
node frontend/webp.mjs "$work/pictures" public/img
