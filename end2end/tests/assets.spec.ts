import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { expect, test } from "../fixtures.ts";

const LETTERHEAD = fileURLToPath(new URL("../../server/tests/letterhead", import.meta.url));
const SIZES = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
];

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("files are uploaded into a folder, found and deleted", async ({ page, member }) => {
      expect(member.email).toContain("@");
      await page.goto("/dashboard/assets");
      await page.getByRole("button", { name: "Upload files" }).first().click();
      const dialog = page.getByRole("dialog", { name: "Upload files" });
      await dialog
        .getByLabel("Files")
        .setInputFiles([
          `${LETTERHEAD}/images/logo.svg`,
          `${LETTERHEAD}/css/letterhead.css`,
          `${LETTERHEAD}/index.html`,
        ]);
      await dialog.getByLabel("Into the folder").fill("brand");
      await dialog.getByRole("button", { name: "Upload", exact: true }).click();

      const report = page.getByRole("status").filter({ hasText: "2 files uploaded. Left out: 1" });
      await expect(report).toContainText("brand/index.html: Must be a picture");
      const table = page.getByRole("table", { name: "Assets" });
      await expect(table.getByRole("rowheader")).toContainText(["brand/letterhead.css", "brand/logo.svg"]);
      const logo = table.getByRole("row", { name: /logo\.svg/ });
      await expect(logo).toContainText("image/svg+xml");
      const width = (picture: HTMLImageElement) => picture.naturalWidth;
      if (javaScriptEnabled) await expect.poll(() => logo.locator("img").evaluate(width)).toBeGreaterThan(0);

      await expect(page.getByRole("link", { name: "Assets" })).toHaveText(/Assets\s*2/);
      await page.goto("/dashboard/search?q=Logo.S");
      await page.getByRole("link", { name: "brand/logo.svg" }).click();
      await expect(page.getByRole("heading", { name: "brand/logo.svg" })).toBeVisible();
      await page.goto("/dashboard/assets");

      await page.getByRole("link", { name: "brand/logo.svg" }).click();
      await page.getByLabel("Tags").fill("Rebrand 2026, logo");
      await page.getByRole("button", { name: "Save tags" }).click();
      await expect(page.getByText("Tags saved.")).toBeVisible();
      const downloading = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download" }).click();
      expect((await downloading).suggestedFilename()).toBe("logo.svg");
      await page.getByRole("button", { name: "Replace" }).click();
      const replacing = page.getByRole("dialog", { name: "Replace the content" });
      await replacing.getByLabel("File").setInputFiles(`${LETTERHEAD}/images/stripes.svg`);
      await replacing.getByRole("button", { name: "Replace" }).click();
      await expect(page.getByText("1 file uploaded.")).toBeVisible();
      await expect(table.getByRole("rowheader")).toHaveCount(2);
      await page.getByRole("link", { name: "Rebrand 2026" }).click();
      await expect(table.getByRole("rowheader")).toHaveCount(1);
      await page.getByRole("link", { name: "Clear" }).click();

      await page.getByLabel("Find by name or folder").fill("LOGO");
      await page.getByLabel("Find by name or folder").press("Enter");
      await expect(table.getByRole("rowheader")).toHaveCount(1);
      await page.getByRole("button", { name: "More for brand/logo.svg" }).click();
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByRole("button", { name: "Delete asset" }).click();
      await expect(page.getByText("Asset deleted.")).toBeVisible();
      await expect(table.getByRole("rowheader")).toContainText(["brand/letterhead.css"]);
    });
  });
}

test("a designer's folder keeps its paths, and its page is printed with it", async ({
  page,
  member,
  hydrated,
  picture,
}) => {
  expect(member.email).toContain("@");
  await page.goto("/dashboard/assets");
  await page.getByRole("button", { name: "Upload files" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Upload files" });
  await dialog.getByLabel("A whole folder").setInputFiles(LETTERHEAD);
  await dialog.getByRole("button", { name: "Upload", exact: true }).click();
  const names = page.getByRole("table", { name: "Assets" }).getByRole("rowheader");
  await expect(names).toHaveCount(3);
  await expect(names.filter({ hasText: "letterhead/css/letterhead.css" })).toHaveCount(1);

  const html = await readFile(`${LETTERHEAD}/index.html`, "utf8");
  await page.goto("/dashboard/playground");
  await hydrated(page);
  await expect(page.locator("code-editor .cm-editor")).toBeVisible();
  await page.getByRole("textbox", { name: "HTML", exact: true }).fill(html.replace("{{ name }}", "Ann"));
  await page.getByRole("button", { name: "Render", exact: true }).click();
  await expect(page.getByRole("img", { name: "Page 1 of 1" })).toBeVisible();
  await picture(page, "assets-letterhead");
});

for (const viewport of SIZES) {
  test.describe(`at ${viewport.width} px`, () => {
    test.use({ viewport });

    test("the page and its dialog are accessible", async ({ page, member, expectPresentable }) => {
      expect(member.email).toContain("@");
      const look = (state: string) => expectPresentable(page, `assets-${state}`);
      await page.goto("/dashboard/assets");
      await look("empty");
      await page.getByRole("button", { name: "Upload files" }).first().click();
      const dialog = page.getByRole("dialog", { name: "Upload files" });
      await expect(dialog).toBeVisible();
      await look("dialog");
      await dialog
        .getByLabel("Files")
        .setInputFiles([
          `${LETTERHEAD}/images/logo.svg`,
          `${LETTERHEAD}/images/stripes.svg`,
          `${LETTERHEAD}/css/letterhead.css`,
          `${LETTERHEAD}/index.html`,
        ]);
      await dialog.getByRole("button", { name: "Upload", exact: true }).click();
      await expect(page.getByText("3 files uploaded.")).toBeVisible();
      await look("list");
      await page.getByRole("link", { name: "stripes.svg" }).click();
      await expect(page.getByText("No published template names it, or a folder")).toBeVisible();
      await page.request.post("/api/v1/templates", {
        headers: { authorization: `Bearer ${member.key}` },
        data: { template: { name: "Letter", content: '<img src="asset:logo.svg" alt="Northwind">' } },
      });
      await page.goto("/dashboard/assets");
      await page.getByRole("link", { name: "logo.svg" }).click();
      await expect(page.getByRole("heading", { name: "logo.svg" })).toBeVisible();
      await expect(page.getByRole("main").getByRole("link", { name: "Letter" })).toBeVisible();
      await page.getByLabel("Tags").fill("Rebrand 2026, logo, quarterly statement");
      await page.getByRole("button", { name: "Save tags" }).click();
      await look("detail");
      await page.getByRole("button", { name: "Replace" }).click();
      await look("replace");
      await page.goto("/dashboard/assets?tag=logo");
      await look("tagged");
    });
  });
}
