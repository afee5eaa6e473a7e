import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { SHEET, create, type } from "../templates.ts";

const WIDTHS = [1280, 390];
const STARTERS = [
  "Invoice",
  "Quote",
  "Receipt",
  "Letter",
  "Report",
  "Certificate",
  "Shipping label",
  "Ticket",
  "Blank page",
];

// When replacing text, Chromium tries to apply its style inline, which the content security policy correctly blocks.
// Leaving a page aborts the preview's requests.
test.beforeEach(({ forgive }) => {
  forgive(/^Applying inline style violates/);
  forgive(/network error/);
});

const firstPage = (page: Page) => page.getByRole("img", { name: "Page 1 of the preview" });
const warnings = (page: Page) => page.locator(".warnings__item");

test("a template begins as an invoice, and its page changes as one types", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "My <b>invoice</b>", "Invoice");
  await hydrated(page);
  await expect(page.getByRole("textbox", { name: "Name of the template" })).toHaveValue("My <b>invoice</b>");
  await expect(firstPage(page)).toBeVisible();
  await expect(page.getByText(/^Conforms to PDF\/A-2a/)).toBeVisible();
  await expect(warnings(page)).toHaveCount(0);

  const before = await firstPage(page).getAttribute("src");
  await type(page, "Template", SHEET);
  await expect(firstPage(page)).not.toHaveAttribute("src", before!);
  await expect(page.getByText("title is undefined and prints empty.")).toBeVisible();
});

test("a template without a name is named after its starter", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await page.goto("/dashboard/templates#create");
  const dialog = page.getByRole("dialog", { name: "New template" });
  const starters = dialog.getByRole("group", { name: "Starter" }).getByRole("radio");
  await expect(starters.first()).toHaveAccessibleName("Blank page");
  await expect(dialog.getByRole("radio", { name: "Invoice" })).toBeChecked();
  await dialog.getByRole("radio", { name: "Shipping label" }).check();
  await dialog.getByRole("button", { name: "Create template" }).click();
  await expect(page.getByRole("textbox", { name: "Name of the template" })).toHaveValue("Shipping label");
});

test("the template syntax opens beside the editor", async ({ page, member, hydrated, context }) => {
  expect(member.email).toContain("@");
  await create(page, "Beside", "Blank page");
  await hydrated(page);
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "Template syntax" }).click();
  await expect((await opened).getByRole("heading", { level: 1 })).toHaveText("Template syntax");
  await expect(page.getByRole("textbox", { name: "Name of the template" })).toHaveValue("Beside");
});

test("every starter conforms and has no warnings", async ({ page, member, hydrated }) => {
  test.slow();
  expect(member.email).toContain("@");
  for (const name of STARTERS) {
    await create(page, name, name);
    await hydrated(page);
    await expect(firstPage(page), name).toBeVisible();
    await expect(page.getByText("Conforms to PDF/A-2a, PDF/UA-1"), name).toBeVisible();
    await expect(page.getByText(/^Accessibility:/), name).toBeHidden();
    await expect(warnings(page), name).toHaveCount(0);
  }
});

test("a warning leads to its line, in either pane", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Warnings", "Blank page");
  await hydrated(page);
  await expect(firstPage(page)).toBeVisible();
  await type(page, "Template", "<p>\n{{ nam }}\n<img src='http://10.0.0.1/x.png'>\u{E123}");
  await type(page, "Sample data", '{\n  "name": "Ann"\n}');
  await expect(warnings(page).filter({ hasText: "nam is undefined" })).toBeVisible();
  await expect(warnings(page).filter({ hasText: "http://10.0.0.1/x.png was blocked" })).toContainText("line 3");
  await expect(warnings(page).filter({ hasText: "no font has them" })).toBeVisible();
  await expect(warnings(page).filter({ hasText: "name is never used" })).toContainText("data, line 2");

  await warnings(page).filter({ hasText: "nam is undefined" }).getByRole("button", { name: "line 2" }).click();
  await expect(page.getByRole("textbox", { name: "Template", exact: true })).toBeFocused();
  await page.keyboard.insertText("first_");
  await expect(page.getByText("first_nam is undefined")).toBeVisible();
});

test("what can't be filled says where, and keeps the last page", async ({ page, member, hydrated, forgive }) => {
  forgive(/status of 422/);
  expect(member.email).toContain("@");
  await create(page, "Faults", "Blank page");
  await hydrated(page);
  await expect(firstPage(page)).toBeVisible();
  await type(page, "Sample data", '{\n  "title": ,\n}');
  await expect(page.getByText("This can’t be rendered yet")).toBeVisible();
  await expect(warnings(page)).toContainText("data, line 2");
  await expect(firstPage(page)).toBeVisible();
  const status = page.getByText("Not rendered", { exact: true }).locator("..");
  await expect(status).toHaveText("Not renderedThe pages show the last version without errors.");
  await expect(page.locator(".viewer__page").first()).toHaveCSS("opacity", "0.5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("Not saved. Sample data, line 2: ");
  await type(page, "Sample data", '{ "title": "Well", "date": 0 }');
  await expect(page.getByText("This can’t be rendered yet")).toBeHidden();
  await expect(page.locator(".viewer__page").first()).toHaveCSS("opacity", "1");
  await type(page, "Template", "<p>\n{% for line in lines %}\n{{ line }}\n\n");
  await expect(warnings(page)).toContainText("{% for %} is not closed: {% endfor %} is missing.");
  await expect(warnings(page).getByRole("button", { name: "line 2" })).toBeVisible();
  await type(page, "Template", "<p>{{ title }} {{ date }}");
  await expect(page.getByText("Rendered in")).toBeVisible();
});

test("drafts are saved, published, compared and restored", async ({ page, member, hydrated, request }) => {
  await create(page, "Letter", "Blank page");
  await hydrated(page);
  const id = page.url().split("/").pop()!;
  const stored = async () => {
    const answer = await request.get(`/api/v1/templates/${id}`, {
      headers: { authorization: `Bearer ${member.key}` },
    });
    return (await answer.json()).data.content as string;
  };
  await expect(page.getByText("Version 1, published")).toBeVisible();
  await type(page, "Template", SHEET);
  await expect(page.getByText("Not saved")).toBeVisible();
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 2, draft. Published: 1")).toBeVisible();
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  expect(await stored()).toContain("Written on");

  await page.getByRole("button", { name: "Publish" }).first().click();
  await page.getByRole("dialog", { name: "Publish this template" }).getByRole("button", { name: "Publish" }).click();
  await expect(page.getByText("Version 2, published")).toBeVisible();
  expect(await stored()).toBe(SHEET);

  await page.getByRole("link", { name: "Versions" }).click();
  await page.getByRole("link", { name: "Compare version 1" }).click();
  const changes = page.getByRole("group", { name: "Changes of HTML" });
  await expect(changes.locator("del").filter({ hasText: "Written on" })).toBeVisible();
  await expect(changes.locator("ins").filter({ hasText: "@page" })).toBeVisible();
  await page.getByRole("button", { name: "Restore 1" }).click();
  await expect(page.getByText("Version 3, draft. Published: 2")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Template", exact: true })).toContainText("Written on");
  expect(await stored()).toBe(SHEET);
});

test("leaving with unsaved changes needs a confirmation", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Guarded", "Blank page");
  await hydrated(page);
  await type(page, "Template", SHEET);
  await expect(page.getByText("Not saved")).toBeVisible();
  const asked = page.waitForEvent("dialog");
  const left = page.reload();
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.accept();
  await left;
});

test("pages are turned, sized and laid on other paper", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Pages", "Report");
  await hydrated(page);
  await expect(page.getByText("Page 1 of 3")).toBeVisible();
  await page.getByRole("button", { name: "Next page" }).click();
  await expect(page.getByText("Page 2 of 3")).toBeVisible();
  await page.getByRole("combobox", { name: "Zoom" }).selectOption("100 %");
  await expect(firstPage(page)).toHaveAttribute("width", /^79[345]$/);
  await page.getByRole("button", { name: "A4", exact: true }).click();
  await page.getByRole("textbox", { name: "Scale" }).fill("9");
  await expect(warnings(page)).toContainText("scale");
});

test("a template is used in six languages, copied and deleted", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Used", "Certificate");
  await hydrated(page);
  const id = page.url().split("/").pop()!;
  await page.getByRole("button", { name: "Use in API" }).click();
  const dialog = page.getByRole("dialog", { name: "Use in API" });
  for (const language of ["Python", "Node", "Rust", "Go", "PHP", "curl"]) {
    await dialog.getByLabel(language, { exact: true }).check();
    await expect(dialog.getByRole("group", { name: `${language} example` })).toContainText(id);
  }
  await expect(dialog).toContainText("Sample data: Default.");
  const download = page.waitForEvent("download");
  await dialog.getByRole("link", { name: "Download data.json" }).click();
  expect((await download).suggestedFilename()).toBe("data.json");
  const keyLink = dialog.getByRole("link", { name: "Create a test key in a new tab" });
  await expect(keyLink).toHaveAttribute("target", "_blank");
  await page.goto((await keyLink.getAttribute("href"))!);
  await expect(page.getByRole("dialog", { name: "New key" }).getByRole("radio", { name: "Test" })).toBeChecked();
  await page.goto("/dashboard/templates?q=used");
  await page.getByRole("button", { name: "More for Used" }).click();
  await page.getByRole("button", { name: "Duplicate" }).click();
  await expect(page.getByRole("textbox", { name: "Name of the template" })).toHaveValue("Used copy");

  await page.goto("/dashboard/templates");
  await page.getByRole("button", { name: "More for Used copy" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  const danger = page.getByRole("dialog", { name: "Delete “Used copy”" });
  await danger.getByLabel("Type the name to confirm").fill("Used");
  await danger.getByRole("button", { name: "Delete template" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await page.getByRole("button", { name: "More for Used copy" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await danger.getByLabel("Type the name to confirm").fill("Used copy");
  await danger.getByRole("button", { name: "Delete template" }).click();
  await expect(page.getByRole("link", { name: "Used copy" })).toHaveCount(0);
});

test("the curl example renders the sample data as it is", async ({ page, member, context, hydrated }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await create(page, "Pasted", "Certificate");
  await hydrated(page);
  await page.getByRole("button", { name: "Use in API" }).click();
  await page.getByRole("button", { name: "Copy: curl example" }).click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const directory = await mkdtemp(join(tmpdir(), "platen-"));
  const run = (key: string) =>
    new Promise<string>((resolve) => {
      const env = { PATH: process.env.PATH, PLATEN_KEY: key };
      execFile("sh", ["-c", command], { cwd: directory, env }, (error, _, log) => resolve(error ? log : ""));
    });
  expect(await run(member.key)).toBe("");
  const file = join(directory, "document.pdf");
  expect((await readFile(file)).subarray(0, 5).toString()).toBe("%PDF-");
  expect(await run("pk_test_wrong")).toContain("401");
  expect(await readFile(file, "utf8")).toContain('"error"');
  await rm(directory, { recursive: true });
});

test("code examples contain the sample data as it was saved last", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Current", "Certificate");
  await hydrated(page);
  for (const name of ["Zoë Long", "Ann Lee"]) {
    await type(page, "Sample data", `{ "name": "${name}" }`);
    await page.keyboard.press("Control+s");
    await expect(page.getByText("Saved", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Use in API" }).click();
    const dialog = page.getByRole("dialog", { name: "Use in API" });
    await expect(dialog.getByRole("group", { name: "curl example" })).toContainText(name);
    await hydrated(page);
    await dialog.getByRole("button", { name: "Done" }).click();
    await expect(dialog).toBeHidden();
  }
});

test.describe("on a small screen", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("a starter is chosen by keyboard", async ({ page, member, hydrated }) => {
    expect(member.email).toContain("@");
    await page.goto("/dashboard/templates");
    await page.getByRole("button", { name: "New template" }).first().press("Enter");
    const dialog = page.getByRole("dialog", { name: "New template" });
    const radio = (name: string) => dialog.getByRole("radio", { name, exact: true });
    await expect(dialog.getByLabel("Name")).toBeFocused();
    await page.keyboard.type("By keyboard");
    for (const field of [dialog.locator("input[value=document]"), dialog.getByLabel("Handle"), radio("Invoice")]) {
      await page.keyboard.press("Tab");
      await expect(field).toBeFocused();
    }
    for (const name of STARTERS.slice(1)) {
      await page.keyboard.press("ArrowDown");
      await expect(radio(name)).toBeChecked();
      await expect(radio(name)).toBeInViewport({ ratio: 1 });
    }
    const top = async (name: string) => (await radio(name).boundingBox())!.y;
    expect(await top("Blank page"), "two cards in a row").toBe(await top("Invoice"));
    expect(await top("Quote")).toBeGreaterThan(await top("Invoice"));
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/dashboard\/templates\/[0-9a-f-]{36}$/);
    await hydrated(page);
    await expect(firstPage(page)).toBeVisible();
  });

  test("one pane is shown at a time", async ({ page, member, hydrated }) => {
    expect(member.email).toContain("@");
    await create(page, "Small", "Blank page");
    await hydrated(page);
    await expect(firstPage(page)).toBeVisible();
    await page.getByRole("radio", { name: "HTML" }).check();
    await expect(firstPage(page)).toBeHidden();
    await type(page, "Template", "<p>{{ nam }}");
    await page.getByRole("radio", { name: "Preview" }).check();
    await warnings(page).filter({ hasText: "nam is undefined" }).getByRole("button", { name: "line 1" }).click();
    await expect(page.getByRole("textbox", { name: "Template", exact: true })).toBeFocused();
  });
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("a template is a form that saves", async ({ page, member }) => {
    expect(member.email).toContain("@");
    await create(page, "Plain", "Blank page");
    await expect(page.locator(".viewer__stage noscript p")).toBeVisible();
    await page.getByRole("textbox", { name: "Template", exact: true }).fill(SHEET);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText("Version 2, draft. Published: 1")).toBeVisible();
    await expect(page.getByRole("textbox", { name: "Template", exact: true })).toHaveValue(SHEET.trimEnd() + "\n");
  });
});

for (const theme of ["light", "dark"] as const) {
  test(`everybody can use it, ${theme}`, async ({ page, member, hydrated, expectAccessible, picture }) => {
    expect(member.email).toContain("@");
    await page.emulateMedia({ colorScheme: theme });
    await page.goto("/dashboard/templates");
    await expectAccessible(page);
    await page.getByRole("button", { name: "New template" }).first().click();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await picture(page, `template-new-${width}-${theme}`);
      await expectAccessible(page);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await create(page, "Invoice", "Invoice");
    await hydrated(page);
    await expect(firstPage(page)).toBeVisible();
    const editor = page.url();
    await type(page, "Sample data", '{ "sender": { "name": "Ann", "fax": 1 } }');
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText("Version 2, draft. Published: 1")).toBeVisible();
    await expect(warnings(page).first()).toBeVisible();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const [name, address] of [
        ["templates", "/dashboard/templates"],
        ["template", editor],
        ["versions", `${editor}/versions?from=1`],
      ]) {
        await page.goto(address!);
        await hydrated(page);
        if (name === "template") await expect(warnings(page).first()).toBeVisible();
        if (name === "versions") await expect(page.locator(".page-comparison__summary")).not.toBeEmpty();
        await picture(page, `${name}-${width}-${theme}`);
        await expectAccessible(page);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(editor);
    await hydrated(page);
    for (const [opener, dialog] of [
      ["Use in API", "Use in API"],
      ["Publish", "Publish this template"],
    ]) {
      await page.getByRole("button", { name: opener! }).first().click();
      await expect(page.getByRole("dialog", { name: dialog! })).toBeVisible();
      await picture(page, `template-${dialog!.toLowerCase().replaceAll(" ", "-")}-${theme}`);
      await expectAccessible(page);
      await page.keyboard.press("Escape");
    }
  });
}
