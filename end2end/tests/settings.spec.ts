import { readFile } from "node:fs/promises";

import { type APIRequestContext, type Browser, type BrowserContext, type Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { mailsTo } from "../mailbox.ts";
import { type Member, linkFor, logIn, makeMember, newAddress } from "../people.ts";
import { setting } from "../service.ts";

const EVIL = `Ann </script><img src=x onerror=alert(1)> "Example"`;
const OTHER_PASSWORD = "another long phrase";

/** Logs the same user in in another browser context. */
async function elsewhere(browser: Browser, address: string): Promise<BrowserContext> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto("/log-in");
  await logIn(page, address);
  await expect(page).toHaveURL(/\/dashboard$/);
  return context;
}

/** Returns whether the context is still logged in. */
async function isLoggedIn(context: BrowserContext): Promise<boolean> {
  const answer = await context.request.get("/dashboard", { maxRedirects: 0, headers: { accept: "text/html" } });
  return answer.status() === 200;
}

/** Creates an export and waits until the page lists `count` exports. */
async function makeExport(page: Page, count = 1): Promise<void> {
  await section(page, "Export").getByRole("button", { name: "Create export" }).click();
  await expect(page.getByRole("status")).toHaveText("Export started. We’ll email you when it is ready.");
  await expect(async () => {
    await page.goto("/dashboard/settings");
    await expect(section(page, "Export").getByRole("link", { name: /^Download/ })).toHaveCount(count, { timeout: 100 });
  }).toPass({ timeout: 20_000 });
}

/** Renders a document by the API, and returns the id of the render and the address of the document. */
async function renderStored(request: APIRequestContext, member: Member): Promise<{ id: string; address: string }> {
  const api = `${process.env.PLATEN_TEST_URL}/api/v1`;
  const headers = { authorization: `Bearer ${member.key}` };
  const body = { parts: ["<title>Letter</title><h1>Letter</h1>"] };
  const queued = await request.post(`${api}/renderers/pdf/async`, { headers, data: body });
  const id = queued.headers()["x-render-id"]!;
  let address: string | undefined;
  await expect(async () => {
    const answer = await request.get(`${api}/renders/${id}`, { headers });
    const { data } = (await answer.json()) as { data: { result: { mediaLink?: string } | null } };
    address = data.result?.mediaLink;
    expect(address, "the document is stored").toBeDefined();
  }).toPass({ timeout: 20_000 });
  return { id, address: address! };
}

const section = (page: Page, name: string) =>
  page.locator("section").filter({ has: page.getByRole("heading", { level: 2, name, exact: true }) });

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("people name themselves and their account", async ({ page, member }) => {
      expect(member.email).toBeTruthy();
      await page.goto("/dashboard/settings");
      await page.getByLabel("Name", { exact: true }).fill(EVIL);
      await page.getByRole("button", { name: "Save name" }).click();
      await expect(page.getByRole("status")).toHaveText("Name saved.");
      await expect(page.getByLabel("Name", { exact: true })).toHaveValue(EVIL);
      await expect(page.getByRole("button", { name: `${EVIL}, your menu` })).toBeVisible();

      await page.getByLabel("Account name").fill("x".repeat(201));
      await page.getByRole("button", { name: "Save account name" }).click();
      await expect(page.getByLabel("Account name")).toHaveAccessibleDescription(
        "Enter an account name of 1 to 200 characters.",
      );
      await expect(page.getByLabel("Account name")).toHaveValue("x".repeat(201));
      await page.getByLabel("Account name").fill("Harbour & <i>Finch</i>");
      await page.getByRole("button", { name: "Save account name" }).click();
      await expect(page.getByRole("status")).toHaveText("Account name saved.");
      await expect(page.getByRole("navigation", { name: "Breadcrumb" })).toContainText("Harbour & <i>Finch</i>");
      await expect(page.locator("img[src=x]")).toHaveCount(0);
    });

    test("another address counts once its link was opened", async ({ page, member }) => {
      const address = newAddress();
      await page.goto("/dashboard/settings");
      const profile = section(page, "Profile");
      await expect(profile.getByLabel("Email", { exact: true })).toHaveValue(member.email);
      await page.getByRole("button", { name: "Send link" }).click();
      await expect(profile.getByLabel("Email", { exact: true })).toHaveAccessibleDescription(
        /Enter a new email address/,
      );
      await profile.getByLabel("Email", { exact: true }).fill(address);
      await page.getByRole("button", { name: "Send link" }).click();
      await expect(page.getByRole("status")).toContainText("Link sent to the new address.");
      await expect(profile.getByLabel("Email", { exact: true })).toHaveValue(member.email);
      await page.goto(await linkFor(address, "Confirm your new email address"));
      await page.getByRole("button", { name: "Confirm address" }).click();
      await expect(page).toHaveURL(/\/dashboard\/settings\?done=email-confirmed$/);
      await expect(profile.getByLabel("Email", { exact: true })).toHaveValue(address);
    });

    test("a changed password ends all other sessions", async ({ page, member, browser }) => {
      const phone = await elsewhere(browser, member.email);
      await page.goto("/dashboard/settings");
      const password = section(page, "Password");
      await password.getByLabel("New password").fill("short");
      await page.getByRole("button", { name: "Change password" }).click();
      await expect(password.getByLabel("New password")).toHaveAccessibleDescription(/Enter a password of at least 12/);
      expect(page.url()).not.toContain("short");
      expect(await isLoggedIn(phone)).toBe(true);
      await password.getByLabel("New password").fill(OTHER_PASSWORD);
      await page.getByRole("button", { name: "Change password" }).click();
      await expect(page.getByRole("status")).toHaveText("Password changed. All other sessions are logged out.");
      await expect(password).toContainText(/Changed \d+ \w+ \d{4}\./);
      expect(await isLoggedIn(phone)).toBe(false);
      await phone.close();
    });

    test("sessions are listed and logged out, one or all", async ({ page, member, browser }) => {
      const [phone, tablet] = [await elsewhere(browser, member.email), await elsewhere(browser, member.email)];
      await page.goto("/dashboard/settings");
      const rows = section(page, "Sessions").getByRole("row");
      await expect(rows).toHaveCount(4);
      await expect(rows.filter({ hasText: "this session" })).toHaveCount(1);
      await expect(rows.nth(1)).toContainText("Chrome on Linux");
      await rows
        .nth(1)
        .getByRole("button", { name: /^Log out/ })
        .click();
      await expect(page.getByRole("status")).toHaveText("Session logged out.");
      await expect(rows).toHaveCount(3);
      expect([await isLoggedIn(phone), await isLoggedIn(tablet)]).toEqual([true, false]);
      await page.getByRole("button", { name: "Log out everywhere else" }).click();
      await expect(page.getByRole("status")).toHaveText("All other sessions are logged out.");
      await expect(rows).toHaveCount(2);
      await expect(page.getByRole("button", { name: "Log out everywhere else" })).toHaveCount(0);
      expect(await isLoggedIn(phone)).toBe(false);
      await phone.close();
      await tablet.close();
    });

    test("content is kept only by those who want it", async ({ page, member }) => {
      expect(member.email).toBeTruthy();
      await page.goto("/dashboard/settings");
      const keep = page.getByRole("checkbox", { name: "Store request content" });
      const before = await keep.isChecked();
      await keep.setChecked(!before);
      await section(page, "Request content").getByRole("button", { name: "Save" }).click();
      await expect(page.getByRole("status")).toHaveText("Setting saved.");
      await expect(keep).toBeChecked({ checked: !before });
    });

    test("new documents get links for as long as the owner chooses", async ({ page, member, request }) => {
      const before = await renderStored(request, member);
      expect(before.address).not.toContain("/files/links/");
      await page.goto("/dashboard/settings");
      const links = section(page, "Document links");
      const choice = links.getByLabel("New documents get");
      const save = async (label: string) => {
        await choice.selectOption({ label });
        await links.getByRole("button", { name: "Save setting" }).click();
        await expect(page.getByRole("status")).toContainText("Setting saved. It applies to documents");
        await expect(choice.locator("option:checked")).toHaveText(label);
      };
      await expect(choice.locator("option:checked")).toHaveText("Public, unlisted addresses");
      await save("Links that expire after an hour");
      const { id, address } = await renderStored(request, member);
      expect(address).toContain("/files/links/");
      const document = await request.get(address);
      expect(document.status()).toBe(200);
      expect((await document.body()).subarray(0, 5).toString()).toBe("%PDF-");
      // Earlier documents keep their addresses.
      expect((await request.get(before.address)).status()).toBe(200);
      await page.goto(`/dashboard/renders/${id}`);
      await expect(page.getByText("1 valid, until")).toBeVisible();
      const expires = await page.getByText("1 valid, until").locator("time").getAttribute("datetime");
      const minutes = (Date.parse(expires!) - Date.now()) / 60_000;
      expect(minutes).toBeGreaterThan(55);
      expect(minutes).toBeLessThanOrEqual(60);

      await page.goto("/dashboard/settings");
      await save("Public, unlisted addresses");
      expect((await renderStored(request, member)).address).not.toContain("/files/links/");
    });

    test("everything is exported, announced by mail and downloaded", async ({ page, member }) => {
      await page.goto("/dashboard/settings");
      await makeExport(page);
      const announced = () => mailsTo(setting("PLATEN_TEST_MAILS"), member.email, "Your export is ready");
      await expect.poll(async () => (await announced()).length).toBe(1);
      const [mail] = await announced();
      expect(mail).toContain("/dashboard/settings");
      expect(mail, "no link leads past the log-in").not.toContain("/exports/");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        section(page, "Export")
          .getByRole("link", { name: /^Download/ })
          .click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/^platen-export-\d{4}-\d{2}-\d{2}\.zip$/);
      const content = await readFile(await download.path());
      expect(content.subarray(0, 2).toString()).toBe("PK");
      for (const again of [2, 3]) {
        await makeExport(page, again);
      }
      await section(page, "Export").getByRole("button", { name: "Create export" }).click();
      await expect(section(page, "Export").getByRole("alert")).toContainText("at most three exports a day");
    });

    test("an account is deleted by its name, and taken back", async ({ page, member }) => {
      await page.goto("/dashboard/settings");
      await page.getByRole("button", { name: "Delete account" }).click();
      const remove = page.getByRole("dialog", { name: `Delete ${member.email}` });
      await expect(remove.getByLabel(/^Type/)).toBeFocused();
      await remove.getByLabel(/^Type/).fill("Somebody else");
      await remove.getByRole("button", { name: "Delete in seven days" }).click();
      await expect(remove.getByLabel(/^Type/)).toHaveAccessibleDescription(/The name does not match\./);
      await remove.getByLabel(/^Type/).fill(member.email);
      await remove.getByRole("button", { name: "Delete in seven days" }).click();
      await expect(page).toHaveURL(/done=deletion$/);
      await page.goto("/dashboard/api-keys");
      await expect(page.getByText("This account will be deleted on")).toBeVisible();
      await page.getByRole("main").getByRole("link", { name: "Settings" }).click();
      await page.getByRole("button", { name: "Cancel deletion" }).click();
      await expect(page.getByRole("status")).toHaveText("Deletion cancelled.");
      await expect(page.getByText("This account will be deleted on")).toHaveCount(0);
    });
  });
}

test("sessions of other users can't be ended", async ({ page, member, browser, baseURL }) => {
  expect(member.email).toBeTruthy();
  const stranger = await makeMember();
  const other = await elsewhere(browser, stranger.email);
  // The current session has no button; the other session's has its id.
  const second = await elsewhere(browser, stranger.email);
  const foreign = await other.newPage();
  await foreign.goto("/dashboard/settings");
  const id = (await foreign.locator("input[name=subject]").first().getAttribute("value"))!;
  await page.goto("/dashboard/settings");
  expect(await page.content()).not.toContain(id);
  const csrf = (await page.locator("meta[name=csrf-token]").getAttribute("content"))!;
  const form = { csrf, subject: id };
  const answer = await page.request.post("/web/end-session", { form, headers: { origin: baseURL! } });
  expect(answer.status()).toBe(404);
  expect([await isLoggedIn(other), await isLoggedIn(second)]).toEqual([true, true]);
  await other.close();
  await second.close();
});

for (const width of [1280, 390]) {
  test(`the page of settings is accessible at ${width} px`, async ({ page, member, browser, expectPresentable }) => {
    const phone = await elsewhere(browser, member.email);
    await page.setViewportSize({ width, height: 900 });
    const look = (name: string) => expectPresentable(page, `settings${name}`);
    await page.goto("/dashboard/settings");
    await look("");
    await makeExport(page);
    await look("-export");
    await page.getByLabel("New password").fill("short");
    await page.getByRole("button", { name: "Change password" }).click();
    await expect(page.getByRole("alert")).toBeVisible();
    await look("-problem");
    await page.getByRole("button", { name: "Delete account" }).click();
    await look("-delete");
    const remove = page.getByRole("dialog", { name: `Delete ${member.email}` });
    await remove.getByLabel(/^Type/).fill(member.email);
    await remove.getByRole("button", { name: "Delete in seven days" }).click();
    await expect(page).toHaveURL(/done=deletion$/);
    await look("-deleted");
    await page.goto("/log-in?done=password");
    await look("-log-in");
    await phone.close();
  });
}
