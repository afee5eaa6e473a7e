// A receiver of webhooks on localhost, to which the service may deliver, and from which it may load rows of batches.

import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";

const ROWS = "number,customer.name\n1,Ann\n2,Bob\n";

/** Starts a receiver. It responds to `/500` with that status, and to other paths with 200; to `/rows.csv` with rows. */
export async function startReceiver(): Promise<{ authority: string; server: Server }> {
  const server = createServer((request, response) => {
    request.resume();
    response.statusCode = request.url === "/500" ? 500 : 200;
    response.end(request.url === "/rows.csv" ? ROWS : "thanks");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return { authority: `127.0.0.1:${port}`, server };
}
