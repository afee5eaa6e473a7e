// Starts the service for all tests: the real program with its own database in a temporary folder.

import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { startMailbox } from "./mailbox.ts";
import { startReceiver } from "./receiver.ts";
import { startStripe } from "./stripe.ts";

/** The first start creates a database cluster. */
const PATIENCE_MS = 60_000;

export default async function start(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "platen-"));
  // As root, the database runs as another user, which needs access to its folder.
  await chmod(folder, 0o711);
  const mails = join(folder, "mails");
  await mkdir(mails);
  process.env.PLATEN_TEST_MAILS = mails;
  const mailbox = await startMailbox(mails);
  const stripe = await startStripe(setting("PLATEN_TEST_STRIPE"));
  const receiver = await startReceiver();
  process.env.PLATEN_TEST_RECEIVER = `http://${receiver.authority}`;
  const port = await freePort();
  const service = spawn(setting("PLATEN_TEST_PROGRAM"), ["serve"], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PLATEN_DATA_DIR: folder,
      PLATEN_SITE_DIR: setting("PLATEN_TEST_SITE"),
      PLATEN_LISTEN: `127.0.0.1:${port}`,
      // Passkeys are bound to a host name, not an IP address.
      PLATEN_BASE_URL: `http://localhost:${port}`,
      PLATEN_LOG_FORMAT: "json",
      // Request logs are useful only for debugging.
      PLATEN_LOG: process.env.PLATEN_LOG ?? "warn",
      PLATEN_SMTP_URL: mailbox.url,
      PLATEN_MAIL_FROM: "Platen <mail@example.org>",
      PLATEN_EGRESS_ALLOW: receiver.authority,
      // Tests use addresses of their own, because attempts are limited by address.
      PLATEN_TRUSTED_PROXIES: "127.0.0.1/32",
      ...stripe.settings,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = async () => {
    if (service.exitCode === null) {
      service.kill("SIGTERM");
      await new Promise((ended) => service.once("exit", ended));
    }
    mailbox.server.close();
    receiver.server.close();
    stripe.stop();
    await rm(folder, { recursive: true, force: true });
  };
  process.env.PLATEN_TEST_DATA = folder;
  try {
    const url = await address(service);
    process.env.PLATEN_TEST_URL = url;
    await stripe.sellFor(url, folder);
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

/** Returns a free port. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Returns the address that the service prints when it is ready. */
function address(service: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the service was not ready in time")), PATIENCE_MS);
    service.once("exit", (code) => reject(new Error(`the service ended with ${code}`)));
    const lines = createInterface({ input: service.stdout! });
    lines.on("line", (line) => {
      const found = /^Platen is ready at (\S+)$/.exec(line);
      if (found) {
        clearTimeout(timer);
        resolve(found[1]!);
      }
    });
  });
}

/** Returns an environment variable set by `deploy/browser-tests.sh` or at startup of the service. */
export function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; start the tests with deploy/browser-tests.sh`);
  return value;
}
