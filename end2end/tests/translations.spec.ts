import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { create, type } from "../templates.ts";

// See templates.spec.ts.
test.beforeEach(({ forgive }) => {
  forgive(/^Applying inline style violates/);
  forgive(/network error/);
});

/** A page as wide as the text of a key, so that the preview shows which language it is in. */
const WIDE = "<style>@page { size: {{ t('width') }} 100mm }</style>\n<h1>{{ t('title') }}</h1>\n";
const TEXTS = JSON.stringify(
  { en: { title: "Invoice", width: "100mm" }, "de-AT": { title: "Rechnung", width: "200mm" } },
  null,
  2,
);

const translations = (page: Page) => page.getByRole("textbox", { name: "Translations", exact: true });
const show = (page: Page, name: "Sample data" | "Translations") =>
  page.getByRole("radio", { name, exact: true }).check();

/** Waits until the preview shows a page that is this many times as wide as high. */
const expectShape = (page: Page, ratio: number) =>
  expect
    .poll(() =>
      page
        .getByRole("img", { name: "Page 1 of the preview" })
        .evaluate((image: HTMLImageElement) => Math.round(image.naturalWidth / image.naturalHeight)),
    )
    .toBe(ratio);

async function open(page: Page, hydrated: (page: Page) => Promise<void>) {
  await create(page, "Letter", "Blank page");
  await hydrated(page);
  await type(page, "Template", WIDE);
  await show(page, "Translations");
  await type(page, "Translations", TEXTS);
  await expectShape(page, 1);
}

test("translations are edited beside the sample data, and the preview follows the language", async ({
  page,
  member,
  hydrated,
}) => {
  expect(member.email).toContain("@");
  await open(page, hydrated);
  await expect(page.getByRole("textbox", { name: "Sample data", exact: true })).toBeHidden();
  await page.getByLabel("Language", { exact: true }).fill("de-AT");
  await expectShape(page, 2);

  await page.getByRole("button", { name: "Publish", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Publish this template" });
  await expect(dialog).toContainText(/Changes to the translations since version 1.*: 0 lines removed, 10 lines added/);
  await dialog.getByRole("button", { name: "Save and publish" }).click();
  await expect(page.getByText("Version 2, published")).toBeVisible();

  await page.reload();
  await show(page, "Translations");
  await expect(translations(page)).toContainText("Rechnung");
  await expect(page.locator("#languages option")).toHaveCount(2);
  await type(page, "Translations", TEXTS.replace("Rechnung", "Faktura"));
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 3, draft")).toBeVisible();
  await page.goto(`${page.url()}/versions?from=2`);
  await expect(page.getByRole("heading", { name: "Translations" })).toBeVisible();
  await expect(page.getByRole("main")).toContainText("Faktura");
});

test("a mistake in a text is shown with its line, which a click leads to", async ({
  page,
  member,
  hydrated,
  forgive,
}) => {
  forgive(/status of 422/);
  expect(member.email).toContain("@");
  await open(page, hydrated);
  await type(page, "Translations", TEXTS.replace('"Rechnung"', "7"));
  const warning = page.getByRole("listitem").filter({ hasText: "de-AT.title" });
  await expect(warning).toBeVisible();
  await show(page, "Sample data");
  await expect(translations(page)).toBeHidden();
  await warning.getByRole("button", { name: "translations, line 7" }).click();
  await expect(translations(page)).toBeFocused();
  await page.keyboard.press("Control+s");
  await expect(page.getByRole("alert")).toContainText("Not saved. Translations, line 7: de-AT.title");
});

for (const theme of ["light", "dark"] as const) {
  for (const width of [1280, 390]) {
    test.describe(`${theme}, ${width} px`, () => {
      test.use({ colorScheme: theme });

      test("the translations are accessible", async ({ page, member, hydrated, expectAccessible, picture }) => {
        expect(member.email).toContain("@");
        await open(page, hydrated);
        await page.setViewportSize({ width, height: 900 });
        if (width === 390) await page.getByRole("radio", { name: /^Data/ }).check();
        await expect(translations(page)).toBeVisible();
        await picture(page, `translations-${width}-${theme}`);
        await expectAccessible(page);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      });
    });
  }
}
