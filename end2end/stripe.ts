// Starts the fake Stripe (`end2end/stripe`) that the service uses in tests.

import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const WEBHOOK_SECRET = "whsec_tests";

export interface Stripe {
  /** Settings for the service. */
  settings: Record<string, string>;
  /** Directs Stripe's events to a service, and creates its prices. */
  sellFor: (url: string, dataFolder: string) => Promise<void>;
  stop: () => void;
}

/** Makes a payment of this account owner, due `daysAgo` days ago, fail at Stripe. */
export async function failPayment(email: string, daysAgo: number): Promise<void> {
  const query = new URLSearchParams({ email, seconds_ago: String(daysAgo * 86_400) });
  await fetch(`${process.env.PLATEN_TEST_STRIPE_API!}fake/failed-payment?${query}`, { method: "POST" });
}

/** Runs the fake Stripe until it is stopped. */
export async function startStripe(program: string): Promise<Stripe> {
  const fake = spawn(program, [WEBHOOK_SECRET], { stdio: ["ignore", "pipe", "inherit"] });
  const api = await new Promise<string>((resolve, reject) => {
    fake.once("error", reject);
    fake.once("exit", (code) => reject(new Error(`the fake Stripe exited with ${code}`)));
    createInterface({ input: fake.stdout! }).once("line", resolve);
  });
  process.env.PLATEN_TEST_STRIPE_API = api;
  const settings = {
    PLATEN_STRIPE_SECRET_KEY: "sk_test_123",
    PLATEN_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    PLATEN_STRIPE_API: api,
  };
  return {
    settings,
    async sellFor(url, dataFolder) {
      await fetch(`${api}fake/webhook?url=${encodeURIComponent(`${url}/webhooks/stripe`)}`, { method: "POST" });
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, PLATEN_DATA_DIR: dataFolder, ...settings };
      await promisify(execFile)(process.env.PLATEN_TEST_PROGRAM!, ["billing", "sync"], { env });
    },
    stop: () => void fake.kill(),
  };
}
