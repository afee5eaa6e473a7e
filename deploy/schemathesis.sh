#!/usr/bin/env bash
# Validates the API description against the OpenAPI standard, and tests a running service against the description:
# Schemathesis generates valid and invalid requests, the same ones on every run.
set -euo pipefail
cd "$(dirname "$0")/.."

platen=$(realpath "${CARGO_TARGET_DIR:-target}/debug/platen")
operations=$PWD/deploy/schemathesis.toml
tools=$HOME/.cache/platen/schemathesis/bin
longest=1500 # seconds; usually 80 to 130, most of them Schemathesis' own

"$tools/openapi-spec-validator" server/openapi.json

folder=$(mktemp -d /tmp/platen-schemathesis-XXXXXX)
chmod 711 "$folder" # Postgres and Chromium run as other users
service=
trap '[ -z "$service" ] || { kill "$service"; wait "$service"; } 2>/dev/null; rm -rf "$folder"' EXIT

# A page that never gets ready must not use up the time; the other limits are out of the way.
export PLATEN_DATA_DIR=$folder/data PLATEN_LISTEN=127.0.0.1:0 PLATEN_BROWSERS=1 PLATEN_SYNC_DEADLINE=5
export PLATEN_RATE_PER_MINUTE=100000 PLATEN_CONCURRENCY=16
unset DATABASE_URL
"$platen" serve >"$folder/out" 2>"$folder/log" &
service=$!
until grep -q 'is ready at' "$folder/out"; do
  kill -0 "$service" 2>/dev/null || { cat "$folder/log"; exit 1; }
  sleep 0.1
done
address=$(sed -n 's/.*is ready at //p' "$folder/out")

email=schemathesis@example.org
"$platen" accounts create --email "$email" --plan Scale --credits 1000000 <<<'a long password' >/dev/null
key=$("$platen" keys create --email "$email" --name schemathesis 2>/dev/null)

cd "$folder" # Schemathesis writes its working files here
# On a busy machine, requests and the generation of data take longer: neither is an error.
if ! timeout "$longest" "$tools/schemathesis" --config-file "$operations" run "$address/openapi.json" \
  --header "Authorization: Bearer $key" --max-examples 20 --generation-deterministic --request-timeout 60 \
  --suppress-health-check too_slow --no-color; then
  printf '\nErrors in the log of the service:\n'
  grep '"level":"ERROR"' "$folder/log" | tail -n 20 || echo '  none'
  exit 1
fi
