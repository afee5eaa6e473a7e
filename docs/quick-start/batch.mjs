// Renders a document for each row of invoices.csv. Needs nothing but Node.js.

import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** Sends a request and gives the answer; on an error says what is wrong and ends. */
async function call(path, { headers, ...options } = {}) {
  const response = await fetch(process.env.PLATEN_URL + path, {
    headers: { Authorization: `Bearer ${process.env.PLATEN_KEY}`, ...headers },
    signal: AbortSignal.timeout(600_000),
    ...options,
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

/** Sends JSON and gives the id of the created resource. */
async function create(path, resource, headers) {
  const response = await call(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(resource),
  });
  const { data } = await response.json();
  return data.id;
}

const name = `Invoices ${randomUUID()}`; // It tells the templates of several runs apart.
const content = '<h1>Invoice {{ number }}</h1><p>{{ customer.name }}: {{ total|currency("EUR") }}</p>';
const templateId = await create("/api/v1/templates", { template: { name, content } });

const parts = [{ type: "template", content: { template_id: templateId } }];
// With an idempotency key, a repeated request returns the same batch.
const batchId = await create("/api/v1/batches", { batch: { name, render: { parts } } }, { "Idempotency-Key": name });
const path = `/api/v1/batches/${batchId}`;

const rows = createReadStream("invoices.csv");
await call(`${path}/rows`, { method: "PUT", headers: { "Content-Type": "text/csv" }, body: rows, duplex: "half" });

const deadline = Date.now() + 3_600_000;
let batch;
// The interval grows, because requests are limited by the minute.
for (let interval = 1; ; interval = Math.min(interval * 2, 15)) {
  batch = (await (await call(path)).json()).data;
  const hold = batch.hold ? `, on hold: ${batch.hold}` : "";
  console.log(`${batch.succeeded} of ${batch.rows} documents, ${batch.failed} failed${hold}`);
  if (batch.state === "ended" || batch.state === "cancelled") break;
  if (Date.now() > deadline) {
    console.error(`${path} has not ended within an hour, and goes on`);
    process.exit(1);
  }
  await setTimeout(interval * 1000);
}

const errors = await (await call(`${path}/errors`)).text();
for (const line of errors.split("\n").filter(Boolean)) {
  const { row, error } = JSON.parse(line);
  console.error(`Row ${row}: ${error.code}: ${error.message}`);
}

// The results name the render of each row: GET /api/v1/renders/{id} locates its document.
const results = await call(`${path}/results?format=csv`);
await writeFile("results.csv", results.body);
if (batch.succeeded < batch.rows) {
  console.error("Some rows have no document");
  process.exit(1);
}
