import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import type { Member } from "../people.ts";

/** Calls the API for templates, which must succeed. Returns the address of the template in the dashboard. */
async function save(member: Member, method: "POST" | "PATCH", path: string, text: string): Promise<string> {
  const content = `<style>@page { size: A6 }</style><p>${text}</p>`;
  const answer = await fetch(`${process.env.PLATEN_TEST_URL}/api/v1/templates${path}`, {
    method,
    headers: { authorization: `Bearer ${member.key}`, "content-type": "application/json" },
    body: JSON.stringify({ template: { name: "Invoice", content } }),
  });
  expect(answer.ok, await answer.clone().text()).toBe(true);
  const { data } = (await answer.json()) as { data: { id: string } };
  return `/dashboard/templates/${data.id}`;
}

async function setChannels(page: Page, names: string, approval: boolean): Promise<void> {
  await page.goto("/dashboard/settings");
  await page.getByLabel("Channels before production").fill(names);
  await page.getByLabel("Require approval for production").setChecked(approval);
  await page.getByRole("button", { name: "Save channels" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Channels saved." })).toBeVisible();
}

/** Creates a template with three versions, of which production has the first and staging the second. */
async function releases(page: Page, member: Member): Promise<string> {
  const template = await save(member, "POST", "", "First");
  const path = template.replace("/dashboard/templates", "");
  await setChannels(page, "development, staging", true);
  await save(member, "PATCH", path, "Second");
  await page.goto(`${template}/versions`);
  await page.getByRole("link", { name: "Releases" }).click();
  await promote(page, "Promote 2 to staging", "Release version 2 to staging");
  await save(member, "PATCH", path, "Third");
  return `${template}/releases`;
}

async function promote(page: Page, button: string, title: string): Promise<void> {
  await page.getByRole("button", { name: button }).click();
  const dialog = page.getByRole("dialog", { name: title });
  await dialog.getByRole("button", { name: "Release", exact: true }).click();
  await expect(status(page, /^(Released|Requested)\. /)).toBeVisible();
}

const status = (page: Page, text: string | RegExp) => page.getByRole("status").filter({ hasText: text });
const row = (page: Page, table: string, name: string) =>
  page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: name });

// See templates.spec.ts.
test.beforeEach(({ forgive }) => {
  forgive(/^Applying inline style violates/);
  forgive(/network error/);
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a release passes through channels, and its author doesn't approve it", async ({ page, member }) => {
      const address = await releases(page, member);
      await page.goto(address);
      const channel = (name: string) => row(page, "Releases by channel", name);
      await expect(channel("development")).toContainText("Version 3");
      await expect(channel("staging")).toContainText("Version 2");
      await expect(channel("production")).toContainText("Version 1");
      await expect(
        channel("production").getByRole("link", { name: "Compare pages of versions 1 and 2" }),
      ).toBeVisible();
      if (javaScriptEnabled) {
        await page.getByRole("button", { name: "Promote 2 to production" }).click();
        const dialog = page.getByRole("dialog", { name: "Release version 2 to production" });
        await dialog.getByText("Default", { exact: true }).click();
        await expect(dialog.getByText("1 of 1 page differs")).toBeVisible({ timeout: 20_000 });
        await dialog.getByRole("button", { name: "Cancel" }).click();
      }
      await promote(page, "Promote 2 to production", "Release version 2 to production");
      await expect(status(page, "Another member has to approve it")).toBeVisible();
      const waiting = row(page, "Promotions that wait", "Version 2");
      await expect(waiting).toContainText("Needs approval");
      await expect(waiting.getByRole("button", { name: "Approve" })).toHaveCount(0);
      await waiting.getByRole("button", { name: "Cancel" }).click();
      await expect(status(page, "Cancelled.")).toBeVisible();
      await expect(channel("production")).toContainText("Version 1");

      await setChannels(page, "development, staging", false);
      await page.goto(address);
      await promote(page, "Promote 2 to production", "Release version 2 to production");
      await expect(channel("production")).toContainText("Version 2");
      await promote(page, "Promote 3 to staging", "Release version 3 to staging");
      await promote(page, "Promote 3 to production", "Release version 3 to production");
      await expect(channel("production")).toContainText("Version 3");
      await promote(page, "Release again (version 2 to production)", "Release version 2 to production");
      await expect(channel("production")).toContainText("Version 2");
    });
  });
}

for (const theme of ["light", "dark"] as const) {
  test(`the page of releases is accessible, ${theme}`, async ({ page, member, expectAccessible, picture }) => {
    const address = await releases(page, member);
    await page.emulateMedia({ colorScheme: theme });
    await page.goto(address);
    await promote(page, "Promote 2 to production", "Release version 2 to production");
    await page.getByRole("button", { name: "Promote 2 to production" }).click();
    const dialog = page.getByRole("dialog", { name: "Release version 2 to production" });
    await dialog.getByLabel("Time, UTC").fill("2020-01-01T00:00");
    await dialog.getByRole("button", { name: "Release", exact: true }).click();
    await expect(dialog.getByRole("link", { name: "Enter a future time in UTC" })).toBeVisible();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expectAccessible(page);
      await picture(page, `releases-dialog-${width}-${theme}`);
    }
    for (const [name, path] of [
      ["list", address],
      ["versions", address.replace("releases", "versions")],
      ["settings", "/dashboard/settings"],
    ] as const) {
      await page.goto(path);
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await expectAccessible(page);
        await picture(page, `releases-${name}-${width}-${theme}`);
      }
    }
  });
}
