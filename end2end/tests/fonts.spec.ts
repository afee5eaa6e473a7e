import { fileURLToPath } from "node:url";

import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";

const FONTS = fileURLToPath(new URL("../../public/fonts", import.meta.url));
const SIZES = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
];

async function upload(page: Page): Promise<void> {
  await page.goto("/dashboard/fonts");
  await page.getByRole("button", { name: "Upload fonts" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Upload files" });
  await dialog
    .getByLabel("Files")
    .setInputFiles([
      `${FONTS}/archivo-latin-wdth-normal.woff2`,
      `${FONTS}/ibm-plex-mono-latin-400-normal.woff2`,
      `${FONTS}/ibm-plex-mono-latin-600-normal.woff2`,
    ]);
  await dialog.getByRole("button", { name: "Upload", exact: true }).click();
  await expect(page.getByText("3 files uploaded.")).toBeVisible();
  await expect(page.getByRole("heading", { name: "Archivo" })).toBeVisible();
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("fonts are found by family and shown in one's own text", async ({ page, member }) => {
      expect(member.email).toContain("@");
      await upload(page);
      await expect(page.getByRole("heading", { level: 2 })).toContainText(["Specimens", "Archivo", "IBM Plex Mono"]);
      await page.getByLabel("Text of specimens").fill("Größe 12,50 €");
      await page.getByLabel("Text of specimens").press("Enter");
      const specimens = page.getByText("Größe 12,50 €");
      await expect(specimens).toHaveCount(4);
      if (javaScriptEnabled) {
        const loaded = () =>
          page.evaluate(() => {
            const specimens = [...document.fonts].filter((face) => face.family.includes("specimen-"));
            return specimens.map((face) => face.status);
          });
        await expect.poll(loaded).toEqual(["loaded", "loaded", "loaded"]);
      }

      await page.getByLabel("Find by family or file").fill("plex");
      await page.getByLabel("Find by family or file").press("Enter");
      await expect(specimens).toHaveCount(2);
      await page.getByRole("link", { name: "ibm-plex-mono-latin-600-normal.woff2" }).click();
      await expect(page.getByText("IBM Plex Mono SemiBold, 600")).toBeVisible();
    });
  });
}

for (const viewport of SIZES) {
  test.describe(`at ${viewport.width} px`, () => {
    test.use({ viewport });

    test("the page of fonts is accessible", async ({ page, member, expectPresentable }) => {
      expect(member.email).toContain("@");
      const look = (state: string) => expectPresentable(page, `fonts-${state}`);
      await page.goto("/dashboard/fonts");
      await look("empty");
      await upload(page);
      await look("list");
    });
  });
}

test("a warning about a missing font leads to the fonts", async ({ page, member, hydrated }) => {
  await page.request.post("/api/v1/templates", {
    headers: { authorization: `Bearer ${member.key}` },
    data: { template: { name: "Letter", content: "<style>p { font-family: Finch Serif }</style><p>Dear Ann" } },
  });
  await page.goto("/dashboard/templates");
  await page.getByRole("link", { name: "Letter" }).click();
  await hydrated(page);
  const warning = page.getByRole("listitem").filter({ hasText: "Finch Serif" });
  await warning.getByRole("link", { name: "Fonts" }).click();
  await expect(page.getByRole("heading", { name: "Fonts", exact: true })).toBeVisible();
});
