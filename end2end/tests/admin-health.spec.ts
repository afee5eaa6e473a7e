import type { APIRequestContext, Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { type Member, becomeOperator } from "../people.ts";

/** Time until an event is recorded and shown. */
const SEEN = { timeout: 15_000 };

async function render(request: APIRequestContext, member: Member, part: string): Promise<void> {
  await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/renderers/pdf`, {
    headers: { authorization: `Bearer ${member.key}` },
    data: { parts: [part], output_encoding: "binary" },
  });
}

/** Returns the number of renders in the last hour, including those of other tests. */
async function renders(page: Page): Promise<number> {
  const figure = page.locator(".figure").filter({ hasText: "Renders per second" });
  return Number(/([\d,]+) in the last hour/.exec(await figure.innerText())![1]!.replaceAll(",", ""));
}

test("an operator sees a render appear without loading the page again", async ({ page, member, request, hydrated }) => {
  await becomeOperator(page, member);
  await page.goto("/admin/health");
  await hydrated(page);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("System health");
  await page.getByText("Show as a table").click();
  await expect(page.getByRole("table", { name: "Renders per minute" })).toBeVisible();
  await page.evaluate(() => (document.documentElement.dataset.kept = "yes"));
  const before = await renders(page);
  await render(request, member, "<p>Hello");
  await render(request, member, "http://127.0.0.1:8099/");
  await expect.poll(() => renders(page), SEEN).toBeGreaterThanOrEqual(before + 2);
  await expect(page.getByRole("table", { name: "Duration of phases" })).toContainText("Whole document");
  await expect(page.getByRole("table", { name: "Failures by kind" })).toContainText("Address refused");
  // The page was not reloaded, and the opened table is still open.
  await expect(page.locator("html")).toHaveAttribute("data-kept", "yes");
  await expect(page.getByRole("table", { name: "Renders per minute" })).toBeVisible();
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the page says how it was when it was loaded", async ({ page, member, request }) => {
    await becomeOperator(page, member);
    await render(request, member, "<p>Hello");
    await expect(async () => {
      await page.goto("/admin/health");
      expect(await renders(page)).toBeGreaterThan(0);
    }).toPass(SEEN);
    await expect(page.getByRole("table", { name: "Components of the service" })).toContainText("Postgres");
    await expect(page.getByRole("navigation", { name: "Main" })).toContainText("1 web · 1 worker");
  });
});

test("other users don't find the page", async ({ page, member, forgive }) => {
  forgive(/404/);
  expect(member.email).toContain("@");
  const answer = await page.goto("/admin/health");
  expect(answer?.status()).toBe(404);
});

for (const width of [1280, 390]) {
  test(`the page of the service's health is accessible at ${width} px`, async ({
    page,
    member,
    request,
    expectPresentable,
  }) => {
    await page.setViewportSize({ width, height: 900 });
    await becomeOperator(page, member);
    await render(request, member, "<p>Hello");
    await render(request, member, "http://127.0.0.1:8099/");
    await expect(async () => {
      await page.goto("/admin/health");
      await expect(page.getByRole("table", { name: "Failures by kind" })).toBeVisible({ timeout: 200 });
    }).toPass(SEEN);
    await expectPresentable(page, "admin-health");
  });
}
