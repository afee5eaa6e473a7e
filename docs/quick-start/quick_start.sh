#!/bin/sh
# Renders a PDF from HTML and from a template. Needs curl and jq.
set -eu

# call PATH FILE: sends standard input as JSON and puts the answer into FILE; on an error says what is wrong and ends.
call() {
  status=$(curl -sS -o "$2" -w '%{http_code}' "$PLATEN_URL$1" \
    -H "Authorization: Bearer $PLATEN_KEY" -H 'Content-Type: application/json' --data-binary @-)
  case $status in
    2*) return ;;
    422) jq -r '.errors[] | "\(.source.pointer): \(.detail)"' "$2" >&2 ;;
    401 | 403) jq -r '"\(.error): \(.message)"' "$2" >&2 ;;
    *) jq -r '.error.message' "$2" >&2 ;;
  esac
  rm "$2"
  exit 1
}

echo '{"parts": ["<h1>Hello</h1>"], "output_encoding": "binary"}' |
  call /api/v1/renderers/pdf hello.pdf

# It tells the templates of several runs apart.
jq -n --arg name "Invoice $(date +%s)-$$" '{template: {
  name: $name,
  content: "<h1>Invoice {{ number }}</h1><p>{{ total|currency(\"EUR\") }}</p>"
}}' | call /api/v1/templates template.json
template_id=$(jq -r .data.id template.json)
rm template.json

jq -n --arg id "$template_id" '{
  parts: [{type: "template", content: {template_id: $id, context: {number: 7, total: 1234.5}}}],
  output_encoding: "binary"
}' | call /api/v1/renderers/pdf invoice.pdf
