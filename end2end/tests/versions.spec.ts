import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import type { Member } from "../people.ts";
import { SHEET, create, type } from "../templates.ts";

const NOTE = "New <b>title</b>, smaller paper";
/** Version 1 of the template of these tests: many equal lines around one. */
const LINES = (word: string) =>
  Array.from({ length: 120 }, (_, line) => (line === 60 ? `<p>A ${word} letter</p>` : `<p>${line}</p>`)).join("\n");

/** Creates a template with two published versions by the API. Returns its address in the dashboard. */
async function twoVersions(member: Member): Promise<string> {
  const call = (method: string, path: string, template: object) =>
    fetch(`${process.env.PLATEN_TEST_URL}/api/v1/templates${path}`, {
      method,
      headers: { authorization: `Bearer ${member.key}`, "content-type": "application/json" },
      body: JSON.stringify({ template }),
    });
  const created = await call("POST", "", { name: "Letter", content: LINES("short") });
  expect(created.status).toBe(201);
  const { data } = (await created.json()) as { data: { id: string } };
  const updated = await call("PATCH", `/${data.id}`, { content: LINES(`long${" very".repeat(40)}`) });
  expect(updated.status).toBe(200);
  return `/dashboard/templates/${data.id}`;
}

/** The entry of a version in the list. */
const entry = (page: Page, number: number) =>
  page.getByRole("listitem").filter({ has: page.locator(".versions__number", { hasText: `${number}` }) });

const widthOfPage = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

// See templates.spec.ts.
test.beforeEach(({ forgive }) => {
  forgive(/^Applying inline style violates/);
  forgive(/network error/);
});

test("the dialog shows what publishing changes, and asks for a note", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Noted", "Blank page");
  await hydrated(page);
  const dialog = page.getByRole("dialog", { name: "Publish this template" });
  const open = () => page.getByRole("button", { name: "Publish", exact: true }).first().click();
  await open();
  await expect(dialog.getByLabel("Note")).toBeFocused();
  await expect(dialog.getByText("No changes to the HTML since version 1")).toBeVisible();
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await type(page, "Template", SHEET);
  await open();
  const changes = dialog.getByRole("group", { name: "Changes to the HTML" });
  await expect(changes.locator("ins").filter({ hasText: "@page" })).toBeVisible();
  await expect(changes.locator("del").first()).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Save and publish" })).toBeInViewport();
  // The Enter key is a line break, which becomes a space.
  await dialog.getByLabel("Note").fill("New <b>title</b>,");
  await page.keyboard.press("Enter");
  await page.keyboard.type("smaller paper");
  await dialog.getByRole("button", { name: "Publish" }).click();
  await expect(page.getByText("Version 2, published")).toBeVisible();

  await open();
  await expect(dialog.getByLabel("Note")).toHaveValue("");
  await expect(dialog.getByText("No changes to the HTML since version 2")).toBeVisible();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "Versions" }).click();
  await expect(entry(page, 2)).toContainText(NOTE);
  await expect(entry(page, 2)).toContainText("Published");
});

test("unsaved changes are saved and published in one step, which is confirmed", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Confirmed", "Blank page");
  await hydrated(page);
  const dialog = page.getByRole("dialog", { name: "Publish this template" });
  const open = () => page.getByRole("button", { name: "Publish", exact: true }).first().click();
  await open();
  await expect(dialog.getByRole("button", { name: "Publish", exact: true })).toBeVisible();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await type(page, "Template", SHEET);
  await open();
  await dialog.getByRole("button", { name: "Save and publish" }).click();
  const notice = page.getByText("Version 2 is published. Renders use it from now on.");
  await expect(notice).toBeVisible();
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  await type(page, "Template", `${SHEET}<p>`);
  await expect(notice).toHaveCount(0);
});

test("an earlier version is published from the list", async ({ page, member }) => {
  const editor = await twoVersions(member);
  await page.goto(`${editor}/versions`);
  await expect(entry(page, 2).getByRole("button")).toHaveCount(0);
  await entry(page, 1).getByRole("button", { name: "Publish version 1" }).click();
  const dialog = page.getByRole("dialog", { name: "Publish version 1" });
  await expect(dialog).toContainText("This replaces version 2: version 1 is saved as a new version");
  await expect(dialog.getByLabel("Note")).toBeFocused();
  await expect(dialog.getByLabel("Note")).toHaveValue("Version 1 again");
  await dialog.getByRole("button", { name: "Publish" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Version published." })).toBeVisible();
  await expect(entry(page, 3)).toContainText("Published");
  await expect(entry(page, 3)).toContainText("Version 1 again");
  await page.goto("/dashboard/team/log");
  await expect(page.getByText(/published version 3 of the template Letter/i)).toBeVisible();
});

test("publishing is rejected if another version was published in the meantime", async ({ page, member, context }) => {
  const editor = await twoVersions(member);
  await page.goto(`${editor}/versions`);
  const other = await context.newPage();
  await other.goto(`${editor}/versions`);
  await other.getByRole("button", { name: "Publish version 1" }).click();
  await other.getByRole("dialog").getByRole("button", { name: "Publish" }).click();
  await expect(entry(other, 3)).toContainText("Published");

  const dialog = page.getByRole("dialog", { name: "Publish version 1" });
  await page.getByRole("button", { name: "Publish version 1" }).click();
  await dialog.getByLabel("Note").fill("Typed by me");
  await dialog.getByRole("button", { name: "Publish" }).click();
  await expect(dialog.getByRole("alert")).toContainText("Another version has been published");
  await expect(dialog).toContainText("This replaces version 3");
  await expect(dialog.getByLabel("Note")).toHaveValue("Typed by me");
});

/** The summary of the comparison of pages with the first set, once they are compared. */
const summary = (page: Page) => page.locator(".page-comparison__summary").first();

test("a comparison folds what is the same, and has one column or two", async ({ page, member }) => {
  const editor = await twoVersions(member);
  await page.goto(`${editor}/versions`);
  await page.getByRole("link", { name: "Compare version 1 with version 2 (newest)" }).click();
  await expect(page.getByRole("heading", { name: "Version 1 compared with version 2 (newest)" })).toBeVisible();
  // The pages come first, and those of the first set are compared at once.
  await expect(summary(page)).toHaveText(/differ/);
  const unified = page.getByRole("group", { name: "Changes of HTML" });
  const pages = page.locator(".page-comparison__picture img").first();
  expect((await pages.boundingBox())!.y).toBeLessThan((await unified.boundingBox())!.y);
  await expect(unified).toContainText("… 57 unchanged lines");
  await expect(unified.locator("del mark")).toHaveText("short");
  await expect(unified.locator("ins mark")).toContainText("long very");
  const bounds = (await unified.boundingBox())!;
  expect(bounds.width, "the whole width").toBeGreaterThan(700);
  const wraps = () => unified.evaluate((diff) => diff.scrollWidth <= diff.clientWidth);
  expect(await wraps(), "long lines wrap").toBe(true);

  await page.getByRole("group", { name: "Arrangement" }).getByRole("radio", { name: "Side by side" }).check();
  const split = page.getByRole("table", { name: "Changes of HTML" });
  await expect(split).toBeVisible();
  await expect(split.getByRole("columnheader")).toHaveText(["Version 1", "Version 2"]);
  await expect(split.locator("del mark")).toHaveText("short");
  await expect(unified).toBeHidden();
  await expect(pages, "sets stay open").toBeVisible();
  expect(await widthOfPage(page)).toBeLessThanOrEqual(1280);

  await page.setViewportSize({ width: 390, height: 844 });
  await expect(split).toBeHidden();
  await expect(page.getByRole("group", { name: "Arrangement" })).toBeHidden();
  await expect(unified.locator("ins mark")).toContainText("long very");
  expect(await wraps(), "long lines wrap").toBe(true);
  expect(await widthOfPage(page)).toBeLessThanOrEqual(390);
});

test("any two versions are compared, and the way back names the template", async ({ page, member, forgive }) => {
  forgive(/status of 404/);
  const editor = await twoVersions(member);
  await page.goto(`${editor}/versions`);
  await page.getByRole("button", { name: "Publish version 1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Publish" }).click();
  await expect(entry(page, 3)).toContainText("Published");
  await page.getByLabel("Compare", { exact: true }).selectOption("Version 1");
  await page.getByLabel("With", { exact: true }).selectOption("Version 2");
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await expect(page).toHaveURL(/\/versions\?from=1&to=2$/);
  await expect(page.getByRole("heading", { name: "Version 1 compared with version 2", exact: true })).toBeVisible();
  await expect(page.getByLabel("With", { exact: true }).locator("option:checked")).toHaveText("Version 2");
  expect((await page.goto(`${editor}/versions?from=1&to=9`))!.status()).toBe(404);
  await page.goto(`${editor}/versions`);
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Letter" }).click();
  await expect(page).toHaveURL(new RegExp(`${editor}$`));
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("a version is published with a note, and an earlier one again", async ({ page, member }) => {
    expect(member.email).toContain("@");
    await create(page, "Plain", "Blank page");
    await page.getByRole("textbox", { name: "Template", exact: true }).fill(SHEET);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText("Version 2, draft. Published: 1")).toBeVisible();

    await page.getByRole("button", { name: "Publish", exact: true }).first().click();
    const dialog = page.getByRole("dialog", { name: "Publish this template" });
    await expect(dialog.getByRole("link", { name: "Compare the saved draft" })).toHaveAttribute(
      "href",
      /versions\?from=1&to=2$/,
    );
    await dialog.getByLabel("Note").fill(NOTE);
    await dialog.getByRole("button", { name: "Publish" }).click();
    await expect(page.getByText("Version 2, published")).toBeVisible();

    await page.getByRole("link", { name: "Versions" }).click();
    await expect(entry(page, 2)).toContainText(NOTE);
    await page.getByRole("link", { name: "Compare version 1" }).click();
    await page.getByRole("radio", { name: "Side by side" }).check();
    await expect(page.getByRole("table", { name: "Changes of HTML" })).toBeVisible();
    await entry(page, 1).getByRole("button", { name: "Publish version 1" }).click();
    const again = page.getByRole("dialog", { name: "Publish version 1" });
    await again.getByRole("button", { name: "Publish" }).click();
    await expect(entry(page, 3)).toContainText("Published");
  });
});

for (const theme of ["light", "dark"] as const) {
  test(`comparing and publishing are accessible, ${theme}`, async ({
    page,
    member,
    hydrated,
    expectAccessible,
    picture,
  }) => {
    const editor = await twoVersions(member);
    await page.emulateMedia({ colorScheme: theme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const view of width === 390 ? ["unified"] : ["unified", "split"]) {
        await page.goto(`${editor}/versions?from=1&to=2`);
        // Axe fails if the comparison changes while it runs.
        await expect(summary(page)).toHaveText(/differ/);
        if (view === "split") await page.getByRole("radio", { name: "Side by side" }).check();
        await picture(page, `versions-${view}-${width}-${theme}`);
        await expectAccessible(page);
        expect(await widthOfPage(page)).toBeLessThanOrEqual(width);
      }
      await entry(page, 1).getByRole("button", { name: "Publish version 1" }).click();
      await picture(page, `versions-publish-${width}-${theme}`);
      await expectAccessible(page);
      await page.goto(editor);
      await hydrated(page);
      if (width === 390) await page.getByRole("radio", { name: "HTML" }).check();
      await type(page, "Template", LINES("changed"));
      await page.getByRole("button", { name: "Publish", exact: true }).first().click();
      await expect(page.getByRole("group", { name: "Changes to the HTML" })).toBeVisible();
      await picture(page, `template-changes-${width}-${theme}`);
      await expectAccessible(page);
      expect(await widthOfPage(page)).toBeLessThanOrEqual(width);
    }
  });
}
