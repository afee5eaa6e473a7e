"""Renders a document for each row of invoices.csv. Needs nothing but Python."""

import json
import os
import shutil
import sys
import time
import urllib.error
import urllib.request
import uuid


def call(path, method="GET", body=None, headers=None):
    """Sends a request and gives the answer; on an error says what is wrong and ends."""
    request = urllib.request.Request(
        os.environ["PLATEN_URL"] + path,
        method=method,
        data=body,
        headers={"Authorization": "Bearer " + os.environ["PLATEN_KEY"], **(headers or {})},
    )
    try:
        return urllib.request.urlopen(request, timeout=90)
    except urllib.error.HTTPError as error:
        answer = json.load(error)
        if error.code == 422:
            sys.exit("\n".join(f"{fault['source']['pointer']}: {fault['detail']}" for fault in answer["errors"]))
        if error.code in (401, 403):
            sys.exit(f"{answer['error']}: {answer.get('message')}")
        sys.exit(answer["error"]["message"])


def create(path, resource, headers=None):
    """Sends JSON and gives the id of the created resource."""
    headers = {"Content-Type": "application/json", **(headers or {})}
    with call(path, "POST", json.dumps(resource).encode(), headers) as answer:
        return json.load(answer)["data"]["id"]


name = f"Invoices {uuid.uuid4()}"  # It tells the templates of several runs apart.
content = '<h1>Invoice {{ number }}</h1><p>{{ customer.name }}: {{ total|currency("EUR") }}</p>'
template_id = create("/api/v1/templates", {"template": {"name": name, "content": content}})

part = {"type": "template", "content": {"template_id": template_id}}
creation = {"batch": {"name": name, "render": {"parts": [part]}}}
# With an idempotency key, a repeated request returns the same batch.
batch_id = create("/api/v1/batches", creation, {"Idempotency-Key": name})
path = f"/api/v1/batches/{batch_id}"

with open("invoices.csv", "rb") as rows:
    call(path + "/rows", "PUT", rows, {"Content-Type": "text/csv"}).close()

interval = 1  # It grows, because requests are limited by the minute.
deadline = time.monotonic() + 3600
while True:
    with call(path) as answer:
        batch = json.load(answer)["data"]
    hold = f", on hold: {batch['hold']}" if batch["hold"] else ""
    print(f"{batch['succeeded']} of {batch['rows']} documents, {batch['failed']} failed{hold}", flush=True)
    if batch["state"] in ("ended", "cancelled"):
        break
    if time.monotonic() > deadline:
        sys.exit(f"{path} has not ended within an hour, and goes on")
    time.sleep(interval)
    interval = min(interval * 2, 15)

with call(path + "/errors") as errors:
    for line in errors:
        row = json.loads(line)
        print(f"Row {row['row']}: {row['error']['code']}: {row['error']['message']}", file=sys.stderr)

# The results name the render of each row: GET /api/v1/renders/{id} locates its document.
with call(path + "/results?format=csv") as results, open("results.csv", "wb") as file:
    shutil.copyfileobj(results, file)
if batch["succeeded"] < batch["rows"]:
    sys.exit("Some rows have no document")
