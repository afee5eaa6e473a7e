#!/bin/sh
# Renders a document for each row of invoices.csv. Needs curl and jq.
set -eu

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# call PATH FILE [OPTION…]: puts the answer into FILE; on an error says what is wrong and ends.
call() {
  path=$1
  file=$2
  shift 2
  status=$(curl -sS -m 600 -o "$file" -w '%{http_code}' "$PLATEN_URL$path" -H "Authorization: Bearer $PLATEN_KEY" "$@")
  case $status in
    2*) return ;;
    422) jq -r '.errors[] | "\(.source.pointer): \(.detail)"' "$file" >&2 ;;
    401 | 403) jq -r '"\(.error): \(.message)"' "$file" >&2 ;;
    *) jq -r '.error.message' "$file" >&2 ;;
  esac
  rm "$file"
  exit 1
}

# create PATH [OPTION…]: sends standard input as JSON and sets id to that of the created resource.
create() {
  path=$1
  shift
  call "$path" "$answer" -H 'Content-Type: application/json' --data-binary @- "$@"
  id=$(jq -r .data.id "$answer")
}

# It tells the templates of several runs apart.
name="Invoices $(date +%s)-$$"
create /api/v1/templates <<END
{"template": {
  "name": "$name",
  "content": "<h1>Invoice {{ number }}</h1><p>{{ customer.name }}: {{ total|currency(\"EUR\") }}</p>"
}}
END

# With an idempotency key, a repeated request returns the same batch.
create /api/v1/batches -H "Idempotency-Key: $name" <<END
{"batch": {
  "name": "$name",
  "render": {"parts": [{"type": "template", "content": {"template_id": "$id"}}]}
}}
END
batch=/api/v1/batches/$id

call "$batch/rows" "$answer" -T invoices.csv -H 'Content-Type: text/csv'

# The interval grows, because requests are limited by the minute.
interval=1
deadline=$(($(date +%s) + 3600))
while :; do
  call "$batch" "$answer"
  jq -r '.data | "\(.succeeded) of \(.rows) documents, \(.failed) failed"
    + if .hold then ", on hold: \(.hold)" else "" end' "$answer"
  case $(jq -r .data.state "$answer") in ended | cancelled) break ;; esac
  if [ "$(date +%s)" -gt "$deadline" ]; then
    echo "$batch has not ended within an hour, and goes on" >&2
    exit 1
  fi
  sleep "$interval"
  interval=$((interval < 8 ? interval * 2 : 15))
done
is_complete=$(jq '.data.succeeded == .data.rows' "$answer")

call "$batch/errors" "$answer"
jq -r '"Row \(.row): \(.error.code): \(.error.message)"' "$answer" >&2

# The results name the render of each row: GET /api/v1/renders/{id} locates its document.
call "$batch/results?format=csv" results.csv
if [ "$is_complete" = false ]; then
  echo "Some rows have no document" >&2
  exit 1
fi
