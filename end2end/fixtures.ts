// The fixtures of all tests: pages that fail the test if the browser reports errors.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

import { type ConsoleMessage, type Page, test as base, expect } from "@playwright/test";

import { type Member, logIn, makeMember } from "./people.ts";

export { expect };

const PICTURES = fileURLToPath(new URL("pictures", import.meta.url));
/** How long two runs of axe and two screenshots may take. */
const PRESENTATION_CHECK_MS = 10_000;
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Returns an address from the range reserved for benchmarks (RFC 2544). */
const clientAddress = () => `198.18.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}`;

interface Fixtures {
  /** The owner of a new account, logged in. */
  member: Member;
  /** Excludes expected browser errors, such as the one that the browser logs for a 404 page. */
  forgive: (complaint: RegExp) => void;
  /** Fails if axe finds an accessibility violation in the page's current content. */
  expectAccessible: (page: Page) => Promise<void>;
  /**
   * Waits until the page is hydrated, and fails if in light or dark it has an accessibility violation, or if it is wider than the
   * window. Writes screenshots for manual review, named `NAME-WIDTH-SCHEME`. Extends the test's timeout with each call.
   */
  expectPresentable: (page: Page, name: string) => Promise<void>;
  /** Waits until the page is hydrated. */
  hydrated: (page: Page) => Promise<void>;
  /** Writes a screenshot of the whole page, for manual review. */
  picture: (page: Page, name: string) => Promise<void>;
}

/** How scripts report that a request was aborted, or failed. */
const ABORTED = /network error|Failed to fetch|(Response body loading|BodyStreamBuffer) was aborted/;

export const test = base.extend<Fixtures & { complaints: string[]; forgiven: RegExp[] }>({
  baseURL: async ({}, use) => use(process.env.PLATEN_TEST_URL),

  extraHTTPHeaders: async ({}, use) => use({ "x-forwarded-for": clientAddress() }),

  member: async ({ page }, use) => {
    const member = await makeMember();
    await page.goto("/log-in?next=/dashboard");
    await logIn(page, member.email);
    await expect(page).toHaveURL(/\/dashboard$/);
    await use(member);
  },

  forgiven: async ({}, use) => use([]),

  forgive: async ({ forgiven }, use) => use((complaint) => void forgiven.push(complaint)),

  complaints: async ({}, use) => use([]),

  context: async ({ context, complaints, forgiven }, use) => {
    // Leaving a page aborts requests in progress, and scripts that wait for them report it in several ways. Requests that
    // fail for another reason are complaints of their own.
    const complain = (fault: string) => {
      if (!ABORTED.test(fault)) complaints.push(fault);
    };
    context.on("console", (message: ConsoleMessage) => {
      if (["error", "warning"].includes(message.type())) complain(message.text());
    });
    context.on("weberror", (error) => complain(String(error.error())));
    context.on("requestfailed", (request) => {
      const fault = request.failure()?.errorText;
      if (fault !== "net::ERR_ABORTED") complaints.push(`${request.url()}: ${fault}`);
    });
    await use(context);
    expect(
      complaints.filter((complaint) => !forgiven.some((pattern) => pattern.test(complaint))),
      "errors in the browser",
    ).toEqual([]);
  },

  hydrated: async ({}, use) =>
    use((page) => expect(page.locator("html[data-hydrated]"), "the app takes the page over").toBeAttached()),

  expectAccessible: async ({}, use) => {
    const source = await readFile(AXE, "utf8");
    await use(async (page) => {
      // Evaluated by the debugger, which the page's content security policy doesn't restrict.
      await page.evaluate(source);
      const violations = await page.evaluate(async () => {
        const axe = (window as unknown as { axe: typeof import("axe-core") }).axe;
        const { violations } = await axe.run();
        return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).join(" ")}`);
      });
      expect(violations).toEqual([]);
    });
  },

  expectPresentable: async ({ hydrated, expectAccessible, picture }, use, testInfo) =>
    use(async (page, name) => {
      testInfo.setTimeout(testInfo.timeout + PRESENTATION_CHECK_MS);
      await hydrated(page);
      const { width } = page.viewportSize()!;
      const widest = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(widest, "nothing overflows").toBeLessThanOrEqual(width);
      for (const colorScheme of ["dark", "light"] as const) {
        await page.emulateMedia({ colorScheme });
        await expectAccessible(page);
        await picture(page, `${name}-${width}-${colorScheme}`);
      }
    }),

  picture: async ({}, use) =>
    use(async (page, name) => {
      await page.evaluate(() => document.fonts.ready);
      await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
    }),
});
