import { execFile } from "node:child_process";

import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { PASSWORD, logIn, newAddress, platen } from "../people.ts";

/** Logs in to a new account without a key. */
async function enter(page: Page): Promise<void> {
  const email = newAddress();
  await platen(["accounts", "create", "--email", email, "--plan", "Growth"], `${PASSWORD}\n`);
  await page.goto("/log-in?next=/dashboard");
  await logIn(page, email);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Welcome");
}

const steps = (page: Page) => page.locator("#first-steps");

/** Creates a key on the overview and returns the command with it. */
async function command(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Create a test key" }).click();
  const shown = page.getByRole("group", { name: "curl" });
  await expect(shown).toContainText(/export PLATEN_KEY=pk_test_[0-9A-Za-z]{49}\n/);
  return (await shown.textContent())!;
}

/** Runs a command as a user does, except for the name of the file. */
const run = (command: string) =>
  new Promise<void>((resolve, reject) => {
    const script = command.replace("-o hello.pdf", "--silent -o /dev/null");
    execFile("sh", ["-c", script], (error) => (error ? reject(error) : resolve()));
  });

test("the first render appears by itself, and the command stays", async ({ page, hydrated }) => {
  await enter(page);
  await expect(steps(page)).toContainText("0 of 4 done");
  const curl = await command(page);
  await hydrated(page);
  await expect(steps(page)).toContainText("1 of 4 done");
  await expect(steps(page)).toContainText("Waiting for the first render");
  const done = steps(page).getByRole("heading", { name: /\bDone$/ });
  await expect(done).toHaveText(/^Create an API key/);
  await run(curl);
  await expect(steps(page)).toContainText("First document rendered");
  await expect(steps(page)).toContainText("3 of 4 done");
  await expect(done).toHaveText([/^Create an API key/, /^Run the command/, /^See the page/]);
  await expect(page.getByRole("group", { name: "curl" })).toHaveText(curl);
  const picture = page.getByRole("img", { name: "First page of the document" });
  await expect(picture).toBeVisible();
  expect(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(510);
  await page.getByRole("link", { name: "View the render" }).click();
  await expect(page).toHaveURL(/\/dashboard\/renders\/[0-9a-f-]{36}$/);
});

test("another tab that is refreshed leaves the key to the page that shows it", async ({ page, context, baseURL }) => {
  await enter(page);
  const csrf = (await page.locator("meta[name=csrf-token]").getAttribute("content"))!;
  const created = await page.request.post("/web/create-first-key", {
    form: { csrf },
    headers: { origin: baseURL!, accept: "text/html" },
    maxRedirects: 0,
  });
  expect(created.status()).toBe(303);
  const shown = (tab: Page) => tab.getByRole("group", { name: "curl" });
  const other = await context.newPage();
  await other.goto("/dashboard");
  await expect(shown(other)).toContainText("Bearer $PLATEN_KEY");
  await expect(shown(other)).not.toContainText("export");
  await page.goto(created.headers().location!);
  await expect(shown(page)).toContainText(/export PLATEN_KEY=pk_test_[0-9A-Za-z]{49}\n/);
  await page.reload();
  await expect(shown(page)).toContainText("Bearer $PLATEN_KEY");
  await expect(shown(page)).not.toContainText("pk_test_");
});

test("the last step opens the dialog of a new template", async ({ page, hydrated }) => {
  await enter(page);
  await page.getByRole("link", { name: "Create a template" }).click();
  await hydrated(page);
  await expect(page.getByRole("dialog", { name: "New template" })).toBeVisible();
});

test("the whole command is copied", async ({ page, context, hydrated }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await enter(page);
  const curl = await command(page);
  await hydrated(page);
  await page.getByRole("button", { name: "Copy: curl" }).press("Enter");
  await expect(page.getByText("Copied")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${curl}\n`);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the key is shown once, and the steps stay until the last is done", async ({ page }) => {
    await enter(page);
    const curl = await command(page);
    await run(curl);
    await page.reload();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
    await expect(page.getByRole("group", { name: "curl" })).not.toContainText("pk_test_");
    await expect(steps(page)).toContainText("3 of 4 done");
    await page.getByRole("link", { name: "Create a template" }).click();
    await page.getByRole("button", { name: "New template" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New template" });
    await dialog.getByLabel("Name").fill("Letter");
    await dialog.getByRole("button", { name: "Create template" }).click();
    await expect(page).toHaveURL(/\/dashboard\/templates\//);
    await page.goto("/dashboard");
    await expect(page.getByRole("heading", { name: "Credits this period" })).toBeVisible();
    await expect(steps(page)).toHaveCount(0);
  });

  test("the steps are dismissed", async ({ page }) => {
    await enter(page);
    await page.getByRole("button", { name: "Dismiss the first steps" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
    await expect(steps(page)).toHaveCount(0);
  });
});

for (const width of [1280, 390]) {
  test(`the first steps are accessible at ${width} px`, async ({ page, hydrated, expectPresentable, picture }) => {
    await page.setViewportSize({ width, height: 900 });
    await enter(page);
    await picture(page, `first-run-${width}`);
    const curl = await command(page);
    await hydrated(page);
    const code = page.getByRole("group", { name: "curl" });
    expect(await code.evaluate((code) => code.scrollWidth <= code.clientWidth), "nothing is cut off").toBe(true);
    await run(curl);
    await expect(page.getByRole("img", { name: "First page of the document" })).toBeVisible();
    await expectPresentable(page, "first-run-rendered");
  });
}
