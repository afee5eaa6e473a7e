// A receiver of webhooks on localhost, to which the service may deliver.

import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts a receiver. It responds to `/500` with that status, and to other paths with 200. */
export async function startReceiver(): Promise<{ authority: string; server: Server }> {
  const server = createServer((request, response) => {
    request.resume();
    response.statusCode = request.url === "/500" ? 500 : 200;
    response.end("thanks");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return { authority: `127.0.0.1:${port}`, server };
}
