import type { APIRequestContext, Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { type Member, becomeOperator, logIn, makeMember } from "../people.ts";

/** Runs `count` renders whose webhook is unreachable, so that its deliveries fail. */
async function fail(request: APIRequestContext, member: Member, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/renderers/pdf/async`, {
      headers: { authorization: `Bearer ${member.key}` },
      data: { parts: ["<h1>Queued</h1>"], callback: { url: "https://hooks.invalid/platen?secret=sesame" } },
    });
  }
}

const choices = (page: Page) => page.getByRole("table", { name: "Failed jobs" }).getByRole("checkbox");

/** Filters the failed jobs of an account, once there are `count`. */
async function show(page: Page, member: Member, count: number): Promise<void> {
  await expect(async () => {
    await page.goto("/admin/jobs");
    await page.getByLabel("Kind").selectOption("Webhook delivery");
    await page.getByLabel("Account id or owner’s email").fill(member.email);
    await page.getByRole("button", { name: "Filter" }).click();
    await expect(choices(page)).toHaveCount(count, { timeout: 500 });
    await expect(page.getByRole("cell", { name: /^(due|in progress)$/ })).toHaveCount(0, { timeout: 500 });
  }).toPass({ timeout: 20_000 });
}

/** Publishes an announcement, effective immediately. */
async function announce(page: Page, words: string): Promise<void> {
  await page.goto("/admin/announcements");
  await page.getByLabel("Text", { exact: true }).fill(words);
  await page.getByRole("group", { name: "Level" }).getByText("Warning").click();
  await page.getByLabel("Link", { exact: false }).first().fill("https://status.example.org/");
  await page.getByLabel("Link text").fill("Status page");
  await page.getByRole("button", { name: "Publish announcement" }).click();
  await expect(page.getByRole("status")).toContainText("Announcement published.");
}

const row = (page: Page, words: string) => page.getByRole("row").filter({ hasText: words });

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("an operator retries jobs, and discards them", async ({ page, member: operator, request }) => {
      const member = await makeMember();
      await fail(request, member, 3);
      await becomeOperator(page, operator);
      await show(page, member, 3);
      const main = page.getByRole("main");
      await expect(main).toContainText("The name could not be resolved.");
      await expect(main).not.toContainText("sesame");

      await choices(page).first().check();
      await page.getByRole("button", { name: "Retry" }).click();
      await expect(page.getByRole("status")).toContainText("Retried 1 of 1 job.");

      // A reason is required; the selection is retained.
      await show(page, member, 3);
      await choices(page).first().check();
      await page.getByRole("button", { name: "Discard" }).click();
      await expect(page.getByRole("alert").first()).toContainText("Check the highlighted field.");
      await expect(choices(page).first()).toBeChecked();
      await page.getByLabel("Reason").fill("hooks.invalid is gone for good");
      await page.getByRole("button", { name: "Discard" }).click();
      await expect(page.getByRole("status")).toContainText("Discarded 1 of 1 job.");
      await page.getByLabel("All 2 matches").check();
      await page.getByLabel("Reason").fill("hooks.invalid is gone for good");
      await page.getByRole("button", { name: "Discard" }).click();
      await expect(page.getByRole("status")).toContainText("Discarded 2 of 2 jobs.");
      await expect(page.getByText("No failed jobs")).toBeVisible();

      await page.goto("/admin/audit");
      await page.getByLabel("Account, operator or reason").fill(member.email);
      await page.getByLabel("Action").selectOption("Work discarded");
      await page.getByRole("button", { name: "Filter" }).click();
      await expect(row(page, "discarded 2 callbacks")).toContainText("hooks.invalid is gone for good");
    });

    test("a member reads an announcement and hides it", async ({ page, member: operator, browser, baseURL }) => {
      const words = `We move on Sunday ${crypto.randomUUID()}`;
      await becomeOperator(page, operator);
      await announce(page, words);
      const context = await browser.newContext({ baseURL, javaScriptEnabled });
      const reader = await context.newPage();
      const member = await makeMember();
      await reader.goto("/log-in?next=/dashboard/settings");
      await logIn(reader, member.email);
      const notice = reader.locator(".notice").filter({ hasText: words });
      await expect(notice.getByRole("link", { name: "Status page" })).toHaveAttribute(
        "href",
        "https://status.example.org/",
      );
      await notice.getByRole("button", { name: "Hide" }).click();
      await expect(reader.getByRole("heading", { level: 1 })).toHaveText("Settings");
      await expect(notice).toHaveCount(0);
      await context.close();

      await page.goto("/admin/announcements");
      await expect(row(page, words)).toContainText("hidden by 1 user");
      await row(page, words).getByRole("button", { name: "End now" }).click();
      await expect(page.getByRole("status")).toContainText("Announcement ended.");
      await expect(row(page, words).getByRole("button")).toHaveCount(0);
    });
  });
}

test("the log of what operators did is a file", async ({ page, member: operator }) => {
  await becomeOperator(page, operator);
  await page.goto(`/admin/audit?q=${encodeURIComponent(operator.email)}`);
  const link = page.getByRole("link", { name: "Export as CSV" });
  const downloading = page.waitForEvent("download");
  await link.click();
  expect((await downloading).suggestedFilename()).toBe("platen-audit.csv");
});

for (const width of [1280, 390]) {
  test(`the pages are accessible at ${width} px`, async ({ page, member: operator, request, expectPresentable }) => {
    await page.setViewportSize({ width, height: 900 });
    const member = await makeMember();
    await fail(request, member, 2);
    await becomeOperator(page, operator);
    const words = `Renders are slower on Sunday between 10 and 11 UTC. ${crypto.randomUUID()}`;
    await announce(page, words);
    await show(page, member, 2);
    await choices(page).first().check();
    await page.getByRole("button", { name: "Discard" }).click();
    for (const name of ["jobs", "announcements", "audit"]) {
      if (name !== "jobs") await page.goto(`/admin/${name}`);
      await expectPresentable(page, `admin-${name}`);
    }
    await page.goto("/dashboard");
    await expectPresentable(page, "announcement");
    // Other tests would see it.
    await page.goto("/admin/announcements");
    await row(page, words).getByRole("button", { name: "End now" }).click();
  });
}
