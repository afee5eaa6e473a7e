// Receives webhooks and verifies that they come from Platen. Needs only Node.js.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const key = Buffer.from(process.env.PLATEN_WEBHOOK_SECRET.replace(/^whsec_/, ""), "base64");
const tolerance = 5 * 60; // seconds

function isGenuine(headers, body) {
  const timestamp = Number(headers["webhook-timestamp"]);
  if (!(Math.abs(Date.now() / 1000 - timestamp) <= tolerance)) return false;
  const hmac = createHmac("sha256", key).update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`).update(body);
  const expected = Buffer.from(`v1,${hmac.digest("base64")}`);
  return String(headers["webhook-signature"])
    .split(" ")
    .map((signature) => Buffer.from(signature))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const genuine = isGenuine(request.headers, body);
  response.writeHead(genuine ? 204 : 400).end();
  if (genuine) {
    // Do slow work in a queue of your own. The same webhook-id may arrive again.
    const delivery = JSON.parse(body);
    console.log(request.headers["webhook-id"], delivery.status, delivery.error ?? "");
  }
});

server.listen(Number(process.env.PORT ?? 8000), "127.0.0.1", () => {
  console.log(`listening on port ${server.address().port}`);
});
