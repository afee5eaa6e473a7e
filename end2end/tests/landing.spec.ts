import { execFile } from "node:child_process";

import { expect, test } from "../fixtures.ts";
import { makeMember } from "../people.ts";

const WIDTHS = [1280, 390];

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("the landing page says what Platen is, what to send and what it costs", async ({ page, baseURL }) => {
      await page.goto("/");
      await expect(page).toHaveTitle("HTML in, archival PDF out · Platen");
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("HTML in, archival PDF out.");
      await expect(page.getByRole("group", { name: "Request with curl" })).toContainText(
        `curl ${baseURL}/api/v1/renderers/pdf`,
      );
      const plans = page.getByRole("article");
      await expect(plans.getByRole("heading")).toHaveText(["Free", "Starter", "Growth", "Scale"]);
      await expect(plans.first()).toContainText("€ 0 a month");
      await expect(plans.nth(1)).toContainText("€ 19 a month");
      await expect(plans.last()).toContainText("200,000 credits a month");
      await page.getByRole("link", { name: "Prices" }).click();
      await expect(page).toHaveURL(/\/#prices$/);
      await page.getByRole("link", { name: "Create an account" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Sign up");
    });

    test("the docs are one step away", async ({ page }) => {
      await page.goto("/");
      await page.getByRole("link", { name: "Read the docs" }).click();
      await expect(page).toHaveURL(/\/docs$/);
    });

    test("the template syntax has contents, recipes and a way back", async ({ page }) => {
      await page.goto("/");
      await page.getByRole("link", { name: "Template syntax" }).click();
      await expect(page).toHaveTitle("Template syntax · Platen");
      const contents = page.getByRole("navigation", { name: "Contents" });
      await contents.getByRole("link", { name: "Table with a total" }).click();
      await expect(page.getByRole("heading", { name: "Table with a total" })).toBeInViewport();
      await expect(page.getByRole("group", { name: "Output: Table with a total" })).toContainText("€23.10");
      const headings = await page.locator(".guide__text").getByRole("heading", { level: 2 }).allTextContents();
      expect(await contents.getByRole("link").allTextContents()).toEqual(headings);
      await page.getByRole("link", { name: "Platen", exact: true }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("HTML in, archival PDF out.");
    });

    test("the theme is changed by its button and stays", async ({ page, hydrated }) => {
      await page.goto("/");
      if (javaScriptEnabled) await hydrated(page);
      await page.getByRole("button", { name: "Theme: automatic" }).click();
      await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
      await page.getByRole("button", { name: "Theme: light" }).click();
      await expect(page.getByRole("button", { name: "Theme: dark" })).toBeVisible();
      await page.goto("/");
      await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
      await page.getByRole("button", { name: "Theme: dark" }).click();
      await expect(page.locator("html")).not.toHaveAttribute("data-theme");
    });

    test("an address without a page is answered with 404 and the way back", async ({ page, forgive }) => {
      forgive(/404/);
      const answer = await page.goto("/no/such/page");
      expect(answer?.status()).toBe(404);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Page not found");
      await page.getByRole("link", { name: "Go to start page" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("HTML in, archival PDF out.");
    });
  });
}

test("the request can be copied", async ({ page, context, baseURL }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/");
  await page.getByRole("button", { name: "Copy: Request with curl" }).click();
  await expect(page.getByText("Copied")).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(`curl ${baseURL}/api/v1/renderers/pdf \\\n`);
  expect(copied).toBe(`${await page.getByRole("group", { name: "Request with curl" }).textContent()}\n`);
});

test("the request makes the document beside it", async ({ page }) => {
  const { key } = await makeMember();
  await page.goto("/");
  const command = await page.getByRole("group", { name: "Request with curl" }).textContent();
  const script = command!.replace("-o invoice.pdf", "--silent --fail -o /dev/null -D -");
  const headers = await new Promise<string>((resolve, reject) => {
    const env = { ...process.env, PLATEN_KEY: key };
    execFile("sh", ["-c", script], { env }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
  const shown = await page.locator(".press__answer span").allTextContents();
  expect(shown.length).toBe(4);
  for (const header of shown.slice(1)) {
    expect(headers.toLowerCase()).toContain(header.replace(" ", ": ").toLowerCase());
  }
});

test("each output of the template syntax is readable at 390 px", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/docs/templates");
  const examples = page.locator(".examples__item");
  expect(await examples.count()).toBeGreaterThan(40);
  const longest = examples.filter({ hasText: "strona" }).first();
  await expect(longest.getByRole("definition")).toHaveText("strony");
  const cut = await examples.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
  expect(cut, "cut off").toBe(0);
});

for (const width of WIDTHS) {
  test(`pages are accessible at ${width} px`, async ({ page, expectPresentable, forgive }) => {
    forgive(/404/);
    await page.setViewportSize({ width, height: 900 });
    for (const [path, name] of [
      ["/", "landing"],
      ["/docs/templates", "template-syntax"],
      ["/no/such/page", "404"],
    ] as const) {
      await page.goto(path);
      await expectPresentable(page, name);
    }
  });
}
