// Renders a PDF from HTML and from a template. Needs nothing but Node.js.

import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";

/** Sends JSON and gives the answer; on an error says what is wrong and ends. */
async function call(path, body) {
  const response = await fetch(process.env.PLATEN_URL + path, {
    method: "POST",
    headers: { Authorization: `Bearer ${process.env.PLATEN_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(90_000),
  });
  if (response.ok) return response;
  const answer = await response.json();
  if (response.status === 422) {
    for (const fault of answer.errors) console.error(`${fault.source.pointer}: ${fault.detail}`);
  } else if (response.status === 401 || response.status === 403) {
    console.error(`${answer.error}: ${answer.message}`);
  } else {
    console.error(answer.error.message);
  }
  process.exit(1);
}

async function render(part, fileName) {
  const response = await call("/api/v1/renderers/pdf", { parts: [part], output_encoding: "binary" });
  await writeFile(fileName, Buffer.from(await response.arrayBuffer()));
}

await render("<h1>Hello</h1>", "hello.pdf");

const content = '<h1>Invoice {{ number }}</h1><p>{{ total|currency("EUR") }}</p>';
const name = `Invoice ${randomUUID()}`; // It tells the templates of several runs apart.
const created = await call("/api/v1/templates", { template: { name, content } });
const { data } = await created.json();
const template = { template_id: data.id, context: { number: 7, total: 1234.5 } };
await render({ type: "template", content: template }, "invoice.pdf");
