import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { logOut } from "../people.ts";

const WIDTHS = [1280, 390];

/** Replaces the HTML of the first part once the code editor has taken the place of the text area. */
async function fillHtml(page: Page, html: string) {
  await expect(page.locator("code-editor .cm-editor")).toBeVisible();
  await page.getByRole("textbox", { name: "HTML", exact: true }).fill(html);
}

test("a request is tried, and its document looked at and taken along", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await page.goto("/dashboard/playground");
  await hydrated(page);
  await fillHtml(page, "<h1>One</h1><h1 style='break-before: page'>Two</h1>");
  await page.getByLabel("Size", { exact: true }).selectOption("a5");
  await page.getByRole("textbox", { name: "Top" }).fill("12.5");
  await page.getByRole("tab", { name: "JSON" }).click();
  const json = page.getByRole("group", { name: "Request as JSON" });
  await expect(json).toContainText('"size": "a5"');
  expect(JSON.parse((await json.textContent())!)).toEqual({
    parts: [{ type: "html", content: "<h1>One</h1><h1 style='break-before: page'>Two</h1>" }],
    size: "a5",
    margin: { top: 12.5, right: 0, bottom: 0, left: 0, unit: "mm" },
    output_encoding: "binary",
  });
  await page.getByRole("tab", { name: "JSON" }).press("ArrowRight");
  await expect(page.getByRole("group", { name: "Request with curl" })).toContainText("break-before");
  await page.getByRole("button", { name: "Render", exact: true }).click();
  await expect(page.getByRole("img", { name: "Page 1 of 2" })).toBeVisible();
  await expect(page.getByRole("row", { name: "x-pdf-conformance" })).toContainText("PDF/A-2a");
  await expect(page.getByRole("row", { name: "x-credits-used" })).toContainText("0");
  await page.getByRole("button", { name: "Next page" }).click();
  await expect(page.getByRole("img", { name: "Page 2 of 2" })).toBeVisible();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: /^Download/ }).click();
  const stream = await (await download).createReadStream();
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).subarray(0, 5).toString()).toBe("%PDF-");
});

test("faults that the API finds stand beside their fields", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await page.goto("/dashboard/playground");
  await hydrated(page);
  await page.getByLabel("Scale, 0.1 to 2").fill("3");
  await page.getByRole("button", { name: "Render", exact: true }).click();
  const fields = page.locator(".field--invalid");
  await expect(fields).toHaveCount(1);
  await expect(fields).toContainText("Scale");
  await expect(page.getByText("The request was rejected.")).toBeVisible();
  await expect(page.getByText("/scale", { exact: true })).toBeVisible();
});

for (const width of WIDTHS) {
  test(`the request can be copied at ${width} px, however long its lines are`, async ({
    page,
    member,
    hydrated,
    picture,
    context,
  }) => {
    expect(member.email).toContain("@");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.setViewportSize({ width, height: 900 });
    await page.goto("/dashboard/playground");
    await hydrated(page);
    await fillHtml(page, `<p>${"long ".repeat(200)}`);
    for (const [tab, label] of [
      ["JSON", "Request as JSON"],
      ["curl", "Request with curl"],
    ] as const) {
      await page.getByRole("tab", { name: tab }).click();
      const widest = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(widest, `nothing overflows with the tab ${tab}`).toBeLessThanOrEqual(width);
      await page.getByRole("button", { name: `Copy: ${label}` }).click();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect(copied).toBe(await page.getByRole("group", { name: label }).textContent());
      await picture(page, `playground-${tab}-${width}`);
    }
  });
}

test("parts are added, changed and removed", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await page.goto("/dashboard/playground");
  await hydrated(page);
  await page.getByRole("button", { name: "Add part" }).click();
  await expect(page.getByText("2 of 50")).toBeVisible();
  await page.getByRole("group", { name: "Type of Part 2" }).getByLabel("URL").check();
  await page.getByLabel("URL", { exact: true }).last().fill("http://127.0.0.1/");
  await page.getByRole("button", { name: "Render", exact: true }).click();
  await expect(page.getByText("/parts/1", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Remove part" }).last().click();
  await expect(page.getByText("1 of 50")).toBeVisible();
});

test("the overview shows renders", async ({ page, member, request, baseURL }) => {
  for (const parts of [["<h1>Hello</h1>"], ["<p>Hello</p>"], ["http://127.0.0.1/"]]) {
    await request.post(`${baseURL}/api/v1/renderers/pdf`, {
      headers: { authorization: `Bearer ${member.key}` },
      data: { parts, output_encoding: "binary" },
    });
  }
  await page.goto("/dashboard?period=24-hours");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await expect(page.getByRole("img", { name: /^Last 3 renders: 2 succeeded, 1 failed\./ })).toBeVisible();
  await page.getByText("Show as a table").click();
  await expect(page.getByRole("row").filter({ hasText: /^\d+ \w+, \d\d:00\s*2\s*1$/ })).toBeVisible();
  await page.goto("/dashboard/billing");
  await expect(page.getByRole("img", { name: /^2 of 20,000 credits used/ }).first()).toBeVisible();
  await page.getByText("Show as a table").click();
  await expect(page.getByRole("row").nth(1)).toHaveText(/\d+ \w+\s*2\s*0/);
});

for (const width of WIDTHS) {
  test(`overview, usage and playground are accessible at ${width} px`, async ({
    page,
    member,
    hydrated,
    expectPresentable,
  }) => {
    expect(member.email).toContain("@");
    await page.setViewportSize({ width, height: 900 });
    for (const [path, name] of [
      ["/dashboard", "first-run"],
      ["/dashboard/playground", "playground"],
      ["/dashboard", "overview"],
      ["/dashboard/billing", "usage"],
    ] as const) {
      await page.goto(path);
      await hydrated(page);
      if (name === "playground") {
        for (const name of ["Header and footer", "Pages and output", "Before printing", "Delivery"]) {
          await page.locator("summary", { hasText: name }).click();
        }
        await page.getByRole("button", { name: "Render", exact: true }).click();
        await expect(page.getByRole("img", { name: "Page 1 of 1" })).toBeVisible();
      }
      await expectPresentable(page, name);
    }
    await logOut(page);
  });
}
