"""Renders a PDF from HTML and from a template. Needs nothing but Python."""

import json
import os
import sys
import urllib.error
import urllib.request
import uuid


def call(path, body):
    """Sends JSON and gives the answer's bytes; on an error says what is wrong and ends."""
    request = urllib.request.Request(
        os.environ["PLATEN_URL"] + path,
        data=json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + os.environ["PLATEN_KEY"], "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=90) as response:
            return response.read()
    except urllib.error.HTTPError as error:
        answer = json.load(error)
        if error.code == 422:
            sys.exit("\n".join(f"{fault['source']['pointer']}: {fault['detail']}" for fault in answer["errors"]))
        if error.code in (401, 403):
            sys.exit(f"{answer['error']}: {answer.get('message')}")
        sys.exit(answer["error"]["message"])


def render(part, file_name):
    pdf = call("/api/v1/renderers/pdf", {"parts": [part], "output_encoding": "binary"})
    with open(file_name, "wb") as file:
        file.write(pdf)


render("<h1>Hello</h1>", "hello.pdf")

content = '<h1>Invoice {{ number }}</h1><p>{{ total|currency("EUR") }}</p>'
name = f"Invoice {uuid.uuid4()}"  # It tells the templates of several runs apart.
created = json.loads(call("/api/v1/templates", {"template": {"name": name, "content": content}}))
template = {"template_id": created["data"]["id"], "context": {"number": 7, "total": 1234.5}}
render({"type": "template", "content": template}, "invoice.pdf")
