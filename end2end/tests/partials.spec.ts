import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import type { Member } from "../people.ts";

/** Calls the API for templates, which must succeed. Returns the address of the template in the dashboard. */
async function save(member: Member, method: "POST" | "PATCH", path: string, template: object): Promise<string> {
  const answer = await fetch(`${process.env.PLATEN_TEST_URL}/api/v1/templates${path}`, {
    method,
    headers: { authorization: `Bearer ${member.key}`, "content-type": "application/json" },
    body: JSON.stringify({ template }),
  });
  expect(answer.ok, await answer.clone().text()).toBe(true);
  const { data } = (await answer.json()) as { data: { id: string } };
  return `/dashboard/templates/${data.id}`;
}

const page1 = (text: string) => `<style>@page { size: A6 }</style><p>${text}</p>`;

/** Creates a partial in two versions, of which two templates use the first. Returns the address of its settings. */
async function usedPartial(member: Member): Promise<string> {
  const partial = { name: "Footer", kind: "partial", handle: "footer", content: "<footer>First footer</footer>" };
  const footer = await save(member, "POST", "", partial);
  for (const name of ["Invoice", "Offer"]) {
    await save(member, "POST", "", { name, content: page1(`${name} {% include "footer" %}`) });
  }
  await save(member, "PATCH", footer.replace("/dashboard/templates", ""), {
    content: "<footer>Second footer</footer>",
  });
  return `${footer}/settings`;
}

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

// See templates.spec.ts.
test.beforeEach(({ forgive }) => {
  forgive(/^Applying inline style violates/);
  forgive(/network error/);
});

test("templates that use a changed partial are compared and published together", async ({ page, member }) => {
  await page.goto(await usedPartial(member));
  await expect(row(page, "Invoice")).toContainText("Older version");
  await row(page, "Invoice").getByRole("link", { name: "Compare pages of Invoice" }).click();
  await page.getByText("Default", { exact: true }).click();
  await expect(page.getByText("1 of 1 page differs")).toBeVisible({ timeout: 20_000 });
  await page.goBack();
  await page.getByRole("checkbox", { name: "Select Offer" }).uncheck();
  await page.getByRole("button", { name: "Publish the selected templates" }).click();
  await expect(
    page.getByRole("status").filter({ hasText: "The selected templates are published, with" }),
  ).toBeVisible();
  await expect(row(page, "Invoice")).toContainText("Up to date");
  await expect(row(page, "Offer")).toContainText("Older version");
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("a partial is created, used, and kept while it is used", async ({ page, member }) => {
    await page.goto("/dashboard/templates");
    await page.getByRole("button", { name: "New template" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New template" });
    await dialog.getByLabel("Name").fill("Footer");
    await dialog.getByLabel("Partial").check();
    await expect(dialog.getByLabel("Blank page")).toBeHidden();
    await dialog.getByRole("button", { name: "Create template" }).click();
    await expect(dialog.getByText("Enter 1 to 64 of a–z").first()).toBeVisible();
    await dialog.getByLabel("Handle").fill("footer");
    await dialog.getByRole("button", { name: "Create template" }).click();
    await expect(page).toHaveURL(/\/dashboard\/templates\/[0-9a-f-]{36}$/);
    await save(member, "POST", "", { name: "Invoice", content: page1('{% include "footer" %}') });

    await page.goto("/dashboard/templates");
    await expect(row(page, "Footer").first()).toContainText("Partial footer");
    await page.getByRole("button", { name: "More for Footer" }).click();
    await page.locator("[popover]:popover-open").getByRole("link", { name: "Settings" }).click();
    await expect(row(page, "Invoice")).toContainText("Up to date");
    await expect(page.getByText("Both can be changed once no published template uses it.")).toBeVisible();
  });
});

for (const theme of ["light", "dark"] as const) {
  test(`the settings of a partial are accessible, ${theme}`, async ({ page, member, expectAccessible, picture }) => {
    const settings = await usedPartial(member);
    const unused = { name: "Macros", kind: "partial", handle: "macros", content: "{% macro m() %}{% endmacro %}" };
    const macros = await save(member, "POST", "", unused);
    await page.emulateMedia({ colorScheme: theme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const [name, address] of [
        ["used", settings],
        ["kept", `${settings}?done=kept`],
        ["unused", `${macros}/settings`],
        ["list", "/dashboard/templates"],
      ] as const) {
        await page.goto(address);
        await picture(page, `partial-${name}-${width}-${theme}`);
        await expectAccessible(page);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      }
      await page.getByRole("button", { name: "New template" }).first().click();
      await picture(page, `partial-new-${width}-${theme}`);
      await expectAccessible(page);
    }
  });
}
