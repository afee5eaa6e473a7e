import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import type { Member } from "../people.ts";
import { SHEET, create, type } from "../templates.ts";

// See templates.spec.ts.
test.beforeEach(({ forgive }) => {
  forgive(/^Applying inline style violates/);
  forgive(/network error/);
});

const sets = (page: Page) => page.getByLabel("Set", { exact: true });
const editor = (page: Page, pane: "Template" | "Sample data" = "Sample data") =>
  page.getByRole("textbox", { name: pane, exact: true });
/** A template whose page size is part of the data. */
const SIZED = "<style>@page { size: {{ size }} }</style>\n<h1>{{ title }}</h1>\n";
const PORTRAIT = '{ "title": "First", "size": "A5" }';
const SQUARE = '{ "title": "Second", "size": "100mm 100mm" }';

/** Waits until the preview shows a page of this shape. */
const expectShape = (page: Page, isSquare: boolean) =>
  expect
    .poll(() =>
      page
        .getByRole("img", { name: "Page 1 of the preview" })
        .evaluate((image: HTMLImageElement) => image.naturalWidth === image.naturalHeight),
    )
    .toBe(isSquare);
const widthOfPage = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

/** The text that the form would submit. */
const data = (page: Page) => page.locator("textarea[name=data]");

/** Opens the editor of a new template that prints `title`. */
async function open(page: Page, name: string, hydrated: (page: Page) => Promise<void>) {
  await create(page, name, "Blank page");
  await hydrated(page);
  await type(page, "Template", SIZED);
  await type(page, "Sample data", PORTRAIT);
  await expect(page.getByText("Rendered in")).toBeVisible();
}

async function add(page: Page, name: string) {
  await page.getByRole("button", { name: "Add set" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a set" });
  await expect(dialog.getByLabel("Name")).toBeFocused();
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
}

/** Creates a template with two versions and a set of sample data. Returns its address in the dashboard. */
async function twoVersions(page: Page, member: Member, hydrated: (page: Page) => Promise<void>): Promise<string> {
  expect(member.email).toContain("@");
  await open(page, "Letter", hydrated);
  await type(page, "Template", SHEET);
  await add(page, "Long");
  await type(page, "Sample data", '{ "title": "First", "more": true }');
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Version 2, draft. Published: 1")).toBeVisible();
  await type(
    page,
    "Template",
    `${SHEET}{% if more %}<p>More</p><p style="break-before: page">Second page</p>{% endif %}`,
  );
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Version 3, draft. Published: 1")).toBeVisible();
  return new URL(page.url()).pathname;
}

test("sets are added, renamed, saved and deleted, and the preview follows", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await open(page, "Sets", hydrated);
  await expect(page.getByRole("button", { name: "Delete", exact: true })).toBeDisabled();
  await expectShape(page, false);
  await add(page, "Long names");
  await expect(sets(page)).toHaveValue("Long names");
  await expect(data(page)).toHaveValue(PORTRAIT);
  await type(page, "Sample data", SQUARE);
  await expectShape(page, true);

  // Choosing a set changes the preview, and loses nothing.
  await sets(page).selectOption("Default");
  await expect(editor(page)).toContainText("First");
  await expectShape(page, false);
  await sets(page).selectOption("Long names");
  await expect(editor(page)).toContainText("Second");
  await expectShape(page, true);
  // The undo history is that of the set.
  await editor(page).click();
  await page.keyboard.press("Control+z");
  await expect(data(page)).toHaveValue(PORTRAIT);
  await page.keyboard.press("Control+Shift+z");
  await expect(data(page)).toHaveValue(SQUARE);

  await page.getByRole("button", { name: "Rename" }).click();
  const rename = page.getByRole("dialog", { name: "Rename Long names" });
  await rename.getByLabel("Name").fill("default");
  await rename.getByRole("button", { name: "Rename" }).click();
  await expect(rename).toBeVisible();
  await rename.getByLabel("Name").fill("Longest");
  await rename.getByRole("button", { name: "Rename" }).click();
  await expect(sets(page)).toHaveValue("Longest");
  await expect(sets(page)).toBeFocused();
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 2, draft")).toBeVisible();
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();

  await page.reload();
  await hydrated(page);
  await expect(editor(page)).toContainText("First");
  await sets(page).selectOption("Longest");
  await expect(editor(page)).toContainText("Second");
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const ask = page.getByRole("dialog", { name: "Delete Longest?" });
  await expect(ask.getByRole("button", { name: "Cancel" })).toBeFocused();
  await ask.getByRole("button", { name: "Delete set" }).click();
  await expect(sets(page)).toHaveValue("Default");
  await expect(page.getByText("Not saved", { exact: true })).toBeVisible();
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 3, draft")).toBeVisible();
  await page.reload();
  await expect(sets(page).getByRole("option")).toHaveText(["Default"]);
});

test("the bar of sample data is one row where there is room", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await page.setViewportSize({ width: 1680, height: 900 });
  await open(page, "Bar", hydrated);
  const bar = page.locator(".pane--data .pane__bar");
  const height = async () => (await bar.boundingBox())!.height;
  await expect(bar.getByRole("button", { name: "Form", exact: true })).toBeVisible();
  await add(page, "A customer with a very long name, and an invoice of many lines");
  expect(await height()).toBeLessThan(45);
  for (const width of [1024, 390]) {
    await page.setViewportSize({ width, height: 900 });
    if (width === 390) await page.getByRole("radio", { name: /^Data/ }).check();
    await expect(bar).toBeVisible();
    expect(await height()).toBeGreaterThan(45);
    expect(await bar.evaluate((bar) => bar.scrollWidth - bar.clientWidth)).toBeLessThanOrEqual(0);
    expect(await widthOfPage(page)).toBeLessThanOrEqual(width);
  }
});

test("an error names the set", async ({ page, member, hydrated, forgive }) => {
  forgive(/status of 422/);
  expect(member.email).toContain("@");
  await open(page, "Faulty", hydrated);
  await add(page, "Long");
  await type(page, "Sample data", "[");
  await sets(page).selectOption("Default");
  await page.keyboard.press("Control+s");
  await expect(page.getByRole("alert")).toContainText("The set “Long” of the sample data must be a JSON object");
});

test("data is generated from the template in one undo step", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await open(page, "Generated", hydrated);
  await type(page, "Sample data", '{ "title": "First" }');
  await type(
    page,
    "Template",
    "{{ title }}{% for line in lines %}{{ line.price|number(2) }}{% endfor %}{{ due|date }}",
  );
  await page.getByRole("button", { name: "Generate from the template" }).click();
  const expected = { title: "First", lines: [{ price: 10 }, { price: 10 }], due: "2027-01-31" };
  await expect.poll(async () => JSON.parse(await data(page).inputValue()) as unknown).toEqual(expected);
  const done = page.locator(".pane--data").getByRole("status");
  await expect(done).toHaveText("Added 2 fields: lines, due.");
  const generated = await data(page).inputValue();
  await page.getByRole("button", { name: "Generate from the template" }).click();
  await expect(done).toHaveText("Nothing to add: the data has everything that the template uses.");
  await expect(data(page)).toHaveValue(generated);
  await editor(page).click();
  await page.keyboard.press("Control+z");
  await expect(data(page)).toHaveValue('{ "title": "First" }');

  await type(page, "Template", "{{ title");
  await page.getByRole("button", { name: "Generate from the template" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Line 1" })).toBeVisible();
});

test("the form edits data, with the keyboard too", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await open(page, "Form", hydrated);
  await type(
    page,
    "Sample data",
    '{"title": "First", "size": "A5", "unit_price": 1.5, "paid": false, "customer": {"name": "Ann"}, "lines": [{"text": "Pens"}, {"text": "Ink"}]}',
  );
  await page.getByRole("button", { name: "Form", exact: true }).click();
  const form = page.getByRole("group", { name: "Sample data as a form" });
  await expect(editor(page)).toBeHidden();
  await expectShape(page, false);
  await form.getByLabel("Title").fill("Second");
  await form.getByLabel("Size").fill("100mm 100mm");
  await expectShape(page, true);
  await form.getByLabel("Unit price").fill("2,5");
  await form.getByLabel("Paid").check();
  await form.getByRole("group", { name: "Customer" }).getByLabel("Name").fill("Bo");
  await page.keyboard.press("Enter");
  const lines = form.getByRole("group", { name: "Lines" });
  await lines.getByRole("button", { name: "Move down: Lines, item 1" }).press("Enter");
  await expect(lines.getByRole("button", { name: "Move up: Lines, item 2" })).toBeFocused();
  await lines.getByRole("button", { name: "Add item" }).press("Enter");
  await page.keyboard.type("Paper");
  await lines.getByRole("button", { name: "Remove: Lines, item 1" }).click();
  await expect
    .poll(async () => JSON.parse(await data(page).inputValue()) as unknown)
    .toEqual({
      title: "Second",
      size: "100mm 100mm",
      unit_price: 2.5,
      paid: true,
      customer: { name: "Bo" },
      lines: [{ text: "Pens" }, { text: "Paper" }],
    });
  await expect(page.getByText("Version 1, published")).toBeVisible();
  await form.getByLabel("Unit price").fill("x");
  await expect(form.getByLabel("Unit price")).toHaveAttribute("aria-invalid", "true");

  // The form shows the chosen set.
  await add(page, "Empty");
  await form.getByLabel("Title").fill("Third");
  await sets(page).selectOption("Default");
  await expect(form.getByLabel("Title")).toHaveValue("Second");
  await page.getByRole("button", { name: "Form", exact: true }).click();
  await expect(form).toBeHidden();
  await expect(editor(page)).toContainText("Second");
});

test("changed pages are shown before and after, set by set", async ({ page, member, hydrated }) => {
  const path = await twoVersions(page, member, hydrated);
  await page.getByRole("button", { name: "Publish", exact: true }).first().click();
  await page
    .getByRole("dialog", { name: "Publish this template" })
    .getByRole("link", { name: "Compare pages" })
    .click();
  await expect(page).toHaveURL(/\/pages\?older=1&newer=3$/);
  await page.goto(`${path}/versions?from=2`);
  await expect(page.getByText("No visible change")).toBeVisible();
  await expect(page.getByText("The set Long isn’t part of versions.")).toBeVisible();
  await expect(page.getByText("1 unchanged page")).toBeVisible();
  await page.locator("summary").filter({ hasText: "Long" }).press("Enter");
  await expect(page.getByText("1 of 1 page differs, 1 page more")).toBeVisible();
  const sources = await Promise.all(
    ["Page 1 in version 2", "Page 1 in version 3", "Page 1: removed areas in red, added areas in green"].map((name) =>
      page.getByRole("img", { name }).getAttribute("src"),
    ),
  );
  expect(new Set(sources).size).toBe(3);
  // The difference contains green, as nothing was removed, and the other pictures don't.
  const green = (source: string) =>
    page.evaluate(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.width;
      canvas.height = image.height;
      const context = canvas.getContext("2d")!;
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at]! < 50 && data[at + 1]! > 150) count += 1;
      return count;
    }, source);
  expect(await Promise.all(sources.map((source) => green(source!)))).toEqual([0, 0, expect.any(Number)]);
  expect(await green(sources[2]!)).toBeGreaterThan(20);
  await expect(page.getByText(/0\.\d % of the page differs$/)).toBeVisible();
  await expect(page.getByRole("heading", { name: "Page 2, added" })).toBeVisible();
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("a set is chosen by its link and saved, and pages are compared", async ({ page, member }) => {
    const { data: template } = (await (
      await fetch(`${process.env.PLATEN_TEST_URL}/api/v1/templates`, {
        method: "POST",
        headers: { authorization: `Bearer ${member.key}`, "content-type": "application/json" },
        body: JSON.stringify({ template: { name: "Plain", content: SHEET, preview_context: { title: "First" } } }),
      })
    ).json()) as { data: { id: string } };
    const path = `/dashboard/templates/${template.id}`;
    await page.goto(path);
    await page.getByRole("navigation", { name: "Sets of sample data" }).getByRole("link", { name: "Default" }).click();
    await expect(page).toHaveURL(/\?set=Default$/);
    await page.getByRole("textbox", { name: "Template", exact: true }).fill(`${SHEET}<p>More</p>`);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText("Version 2, draft. Published: 1")).toBeVisible();
    await page.goto(`${path}/versions?from=1`);
    await page.getByRole("link", { name: "Compare pages with Default" }).click();
    await expect(page.getByText("1 of 1 page differs")).toBeVisible();
    await expect(page.getByRole("img", { name: "Page 1: removed areas in red, added areas in green" })).toBeVisible();
  });
});

for (const theme of ["light", "dark"] as const) {
  for (const width of [1280, 390]) {
    test.describe(`${theme}, ${width} px`, () => {
      test.use({ colorScheme: theme });

      test("sets, form and comparison are accessible", async ({
        page,
        member,
        hydrated,
        expectAccessible,
        picture: screenshot,
      }) => {
        const path = await twoVersions(page, member, hydrated);
        await page.setViewportSize({ width, height: 900 });
        if (width === 390) await page.getByRole("radio", { name: /^Data/ }).check();
        await screenshot(page, `sample-sets-${width}-${theme}`);
        await expectAccessible(page);
        expect(await widthOfPage(page)).toBeLessThanOrEqual(width);
        await page.getByRole("button", { name: "Rename" }).click();
        await screenshot(page, `sample-sets-rename-${width}-${theme}`);
        await expectAccessible(page);
        await page.getByRole("button", { name: "Cancel" }).click();
        const lines = Array.from({ length: 3 }, (_, line) => ({ text: `Line ${line}`, unit_price: line, paid: true }));
        await type(page, "Sample data", JSON.stringify({ title: "First", more: true, lines }));
        await page.getByRole("button", { name: "Form", exact: true }).click();
        await expect(page.getByRole("group", { name: "Sample data as a form" })).toBeVisible();
        await screenshot(page, `data-form-${width}-${theme}`);
        await expectAccessible(page);
        expect(await widthOfPage(page)).toBeLessThanOrEqual(width);

        await page.goto(`${path}/pages?older=2&newer=3&set=Long`);
        await expect(page.getByText("1 of 1 page differs, 1 page more")).toBeVisible();
        await screenshot(page, `page-comparison-${width}-${theme}`);
        await expectAccessible(page);
        expect(await widthOfPage(page)).toBeLessThanOrEqual(width);
      });
    });
  }
}
