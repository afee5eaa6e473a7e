import { type Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { makeMember, platen } from "../people.ts";

const EVIL = `"><img src=x onerror=alert(1)></textarea><script>alert(2)</script>`;

const dialog = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name });

/** Returns the key shown by the dialog after creation. */
async function shownKey(page: Page): Promise<string> {
  const key = await dialog(page, "Copy the key now").locator(".copy--secret .copy__value").textContent();
  expect(key).toMatch(/^pk_(live|test)_[0-9A-Za-z]{49}$/);
  return key!;
}

/** Opens the menu of a key and selects an action. */
async function choose(page: Page, key: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `More for ${key}`, exact: true }).click();
  await page.getByRole("button", { name: action, exact: true }).click();
}

/** Returns the status of a request made with a key. */
const status = async (baseURL: string, key: string) =>
  (await fetch(`${baseURL}/api/v1/health`, { headers: { authorization: `Bearer ${key}` } })).status;

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a key is made, shown once, replaced and revoked", async ({ page, member, baseURL, forgive }) => {
      forgive(/422/);
      expect(member.key).toMatch(/^pk_live_/);
      await page.goto("/dashboard/api-keys");
      await expect(page.getByRole("heading", { level: 2, name: "1 key in use" })).toBeVisible();
      await page.getByRole("button", { name: "New key" }).click();
      const create = dialog(page, "New key");
      await expect(create.getByLabel("Name")).toBeFocused();
      await create.getByLabel("Name").fill("Month-end worker");
      await create.getByText("Test", { exact: true }).click();
      await create.getByRole("checkbox", { name: "usage:read" }).check();
      await create.getByLabel("Expires").selectOption("In 30 days");
      await create.getByLabel("Allowed addresses").fill("127.0.0.1\n203.0.113.0/24\n198.18.0.0/15");
      await create.getByRole("button", { name: "Create key" }).click();

      await expect(page).toHaveURL(/\/dashboard\/api-keys\?done=created&new=[0-9a-f-]{36}$/);
      await expect(page.getByRole("status")).toHaveText("Key created.");
      const key = await shownKey(page);
      expect(key).toMatch(/^pk_test_/);
      const shown = dialog(page, "Copy the key now");
      await expect(shown).toContainText(`export PLATEN_KEY=${key}`);
      if (javaScriptEnabled) await expect(shown.getByRole("button", { name: "Copy the key" })).toBeFocused();
      expect(page.url()).not.toContain(key);
      expect(await status(baseURL!, key)).toBe(200);
      await dialog(page, "Copy the key now").getByRole("button", { name: "Done" }).click();
      await expect(dialog(page, "Copy the key now")).toBeHidden();
      await page.reload();
      await expect(page.getByRole("heading", { level: 2, name: "2 keys in use" })).toBeVisible();
      expect(await page.content()).not.toContain(key);
      const row = page.getByRole("row", { name: /Month-end worker/ });
      await expect(row.getByRole("cell", { name: "just now", exact: true })).toBeVisible();
      await expect(row).toContainText("from 127.0.0.1/32, 203.0.113.0/24, 198.18.0.0/15");
      await expect(row).toContainText("usage:read");
      await expect(row).toContainText(key.slice(0, 12));

      await choose(page, "Month-end worker", "Rotate");
      await dialog(page, "Rotate “Month-end worker”").getByLabel("Old key stops").selectOption("At once");
      await dialog(page, "Rotate “Month-end worker”").getByRole("button", { name: "Rotate key" }).click();
      await expect(page).toHaveURL(/done=rotated&new=[0-9a-f-]{36}$/);
      const successor = await shownKey(page);
      expect(await status(baseURL!, key)).toBe(401);
      expect(await status(baseURL!, successor)).toBe(200);
      await dialog(page, "Copy the key now").getByRole("button", { name: "Done" }).click();
      const rows = page.getByRole("row", { name: /Month-end worker/ });
      await expect(rows).toHaveCount(2);
      await expect(rows.nth(1)).toContainText("Expired");

      await page.getByRole("button", { name: "More for Month-end worker", exact: true }).first().click();
      await page.getByRole("button", { name: "Revoke", exact: true }).click();
      const revoke = dialog(page, "Revoke “Month-end worker”");
      await expect(revoke.getByLabel("Type the name to confirm")).toBeFocused();
      await revoke.getByLabel("Type the name to confirm").fill("Month");
      await revoke.getByRole("button", { name: "Revoke key" }).click();
      await expect(revoke.getByRole("alert").getByRole("link")).toHaveText([
        "The name does not match. Type it as shown above.",
      ]);
      await expect(revoke.getByLabel("Type the name to confirm")).toHaveValue("Month");
      await expect(page.getByText("Key rotated.")).toHaveCount(0);
      expect(await status(baseURL!, successor)).toBe(200);
      await revoke.getByLabel("Type the name to confirm").fill("Month-end worker");
      await revoke.getByRole("button", { name: "Revoke key" }).click();
      await expect(page).toHaveURL(/done=revoked$/);
      await expect(page.getByRole("status")).toContainText("Key revoked.");
      expect(await status(baseURL!, successor)).toBe(401);
      const revoked = page.getByRole("table", { name: "Revoked keys" });
      await expect(revoked).toBeHidden();
      await page.getByText("1 revoked", { exact: true }).click();
      await expect(revoked.getByRole("row", { name: /Month-end worker/ })).toBeVisible();
    });

    test("the list shows which of two keys of one name was replaced, and until when it works", async ({
      page,
      member,
    }) => {
      expect(member.key).toBeTruthy();
      await page.goto("/dashboard/api-keys");
      await choose(page, "Tests", "Rotate");
      const rotate = dialog(page, "Rotate “Tests”");
      await expect(rotate.getByLabel("Old key stops")).toBeFocused();
      await rotate.getByRole("button", { name: "Rotate key" }).click();
      const successor = await shownKey(page);
      await dialog(page, "Copy the key now").getByRole("button", { name: "Done" }).click();
      const row = (key: string) => page.getByRole("row").filter({ hasText: key.slice(0, 12) });
      await expect(row(member.key)).toContainText(/Replaced\s*works until \d+ \w+ 20\d\d, \d\d:\d\d/);
      await expect(row(successor)).toContainText("Active");
      await expect(row(successor)).not.toContainText("Replaced");
    });

    test("what is wrong with a new key stands beside its fields, and what was typed stays", async ({
      page,
      member,
      forgive,
    }) => {
      forgive(/422/);
      expect(member.key).toBeTruthy();
      await page.goto("/dashboard/api-keys");
      await page.getByRole("button", { name: "New key" }).click();
      const create = dialog(page, "New key");
      await expect(create.getByLabel("Last day, in UTC")).toBeHidden();
      await create.getByLabel("Name").fill(EVIL);
      await create.getByLabel("Expires").selectOption("On a day…");
      await create.getByLabel("Last day, in UTC").fill("2020-02-29");
      for (const scope of [/^render /, /^templates:read /]) {
        await create.getByRole("checkbox", { name: scope }).uncheck();
      }
      await create.getByLabel("Allowed addresses").fill(`203.0.113.300\n${EVIL}`);
      await create.getByRole("button", { name: "Create key" }).click();

      await expect(create.getByRole("alert").getByRole("link")).toHaveText([
        "Choose at least one scope.",
        "Choose today or a later day.",
        "One per line: an address such as 203.0.113.7, or a network such as 203.0.113.0/24.",
      ]);
      await expect(create.getByLabel("Name")).toHaveValue(EVIL);
      await expect(create.getByLabel("Allowed addresses")).toHaveValue(`203.0.113.300\n${EVIL}`);
      await expect(create.getByLabel("Allowed addresses")).toHaveAccessibleDescription(/One per line: an address/);
      await expect(create.getByLabel("Last day, in UTC")).toHaveValue("2020-02-29");
      await expect(create.getByRole("checkbox", { name: /^render / })).not.toBeChecked();
      await create.getByRole("checkbox", { name: "renders:read" }).check();
      await create.getByLabel("Expires").selectOption("Never");
      await create.getByLabel("Allowed addresses").fill("");
      await create.getByRole("button", { name: "Create key" }).click();
      await expect(dialog(page, "Copy the key now")).toContainText(EVIL);
      await dialog(page, "Copy the key now").getByRole("button", { name: "Done" }).click();
      await expect(page.getByRole("row").filter({ hasText: EVIL })).toContainText("never");
      await expect(page.locator("img[src=x]")).toHaveCount(0);
    });
  });
}

/** Creates a template and returns its id. */
async function makeTemplate(baseURL: string, key: string, name: string): Promise<string> {
  const answer = await fetch(`${baseURL}/api/v1/templates`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ template: { name, content: "<p>Hello</p>" } }),
  });
  expect(answer.status).toBe(201);
  return answer.headers.get("location")!.split("/").pop()!;
}

test("a key is for certain templates of its own account", async ({ page, member, baseURL }) => {
  const own = await makeTemplate(baseURL!, member.key, "Receipt");
  const other = await makeTemplate(baseURL!, member.key, "Letter");
  const foreign = await makeTemplate(baseURL!, (await makeMember()).key, "Theirs");
  await page.goto("/dashboard/api-keys");
  await page.getByRole("button", { name: "New key" }).click();
  const create = dialog(page, "New key");
  await expect(create.getByRole("checkbox", { name: "Theirs" })).toHaveCount(0);
  await create.getByLabel("Name").fill("Till");
  await create.getByRole("checkbox", { name: "Receipt" }).check();
  await create.getByRole("button", { name: "Create key" }).click();
  const key = await shownKey(page);
  await expect(page.getByRole("row", { name: /^Till/ })).toContainText("for Receipt");
  const seen = async (template: string) =>
    (await fetch(`${baseURL}/api/v1/templates/${template}`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect(await seen(own)).toBe(200);
  expect(await seen(other)).not.toBe(200);

  const csrf = (await page.locator("meta[name=csrf-token]").getAttribute("content"))!;
  const form = {
    csrf,
    key_name: "Forged",
    key_mode: "live",
    "scopes[0]": "render",
    expiry: "never",
    expiry_day: "",
    networks: "",
    "templates[0]": foreign,
  };
  const answer = await page.request.post("/web/create-key", { form, headers: { origin: baseURL! } });
  expect(answer.status()).toBe(404);
  await page.reload();
  await expect(page.getByText("Forged")).toHaveCount(0);
});

test("keys of another account are neither visible nor revocable", async ({ page, member, baseURL }) => {
  const other = await makeMember();
  const listed = await platen(["keys", "list", "--email", other.email]);
  const id = /^[0-9a-f-]{36}/m.exec(listed)![0];
  await page.goto("/dashboard/api-keys");
  expect(await page.content()).not.toContain(id);
  const csrf = (await page.locator("meta[name=csrf-token]").getAttribute("content"))!;
  for (const [path, form] of [
    ["/web/revoke-key", { subject: id, confirmation: "Tests" }],
    ["/web/rotate-key", { subject: id, overlap: "0" }],
    ["/web/edit-key", { subject: id, key_name: "Mine", expiry: "never", expiry_day: "", networks: "" }],
  ] as const) {
    const answer = await page.request.post(path, { form: { csrf, ...form }, headers: { origin: baseURL! } });
    expect(answer.status(), path).toBe(404);
  }
  expect((await page.request.get(`/dashboard/api-keys/${id}`)).status()).toBe(404);
  expect(await status(baseURL!, other.key)).toBe(200);
  expect(await status(baseURL!, member.key)).toBe(200);
});

for (const width of [1280, 390]) {
  test(`the page of keys is accessible at ${width} px`, async ({ page, member, expectPresentable, forgive }) => {
    forgive(/422/);
    await page.setViewportSize({ width, height: 900 });
    const create = ["keys", "create", "--email", member.email, "--name"];
    await platen([...create, "Month-end worker", "--test", "--scope", "render", "--allow-ip", "203.0.113.0/24"]);
    const soon = new Date(Date.now() + 9.5 * 86_400_000).toISOString().replace(/\.\d+/, "");
    await platen([...create, "CI", "--expires", soon]);
    const old = await platen([...create, "Old website"]);
    const id = /^[0-9a-f-]{36}/m.exec(await platen(["keys", "list", "--email", member.email]))![0];
    expect(old).toMatch(/^pk_live_/);
    await platen(["keys", "revoke", id]);
    const look = (name: string) => expectPresentable(page, `api-keys${name}`);
    await page.goto("/dashboard/api-keys");
    await expect(page.getByText("Expires in 9 days")).toBeVisible();
    await look("");
    await page.getByText("1 revoked", { exact: true }).click();
    await page.getByRole("button", { name: "More for CI" }).click();
    await look("-menu");
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await look("-revoke");
    await page.keyboard.press("Escape");
    await choose(page, "CI", "Rotate");
    await look("-rotate");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "New key" }).click();
    await look("-new");
    await dialog(page, "New key").getByLabel("Name").fill("Worker");
    await dialog(page, "New key").getByLabel("Allowed addresses").fill("203.0.113.300");
    await page.getByRole("button", { name: "Create key" }).click();
    await expect(dialog(page, "New key").getByRole("alert")).toBeVisible();
    await look("-problem");
    await dialog(page, "New key").getByLabel("Allowed addresses").fill("");
    await page.getByRole("button", { name: "Create key" }).click();
    await expect(dialog(page, "Copy the key now")).toBeVisible();
    await look("-shown");
  });
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(`${javaScriptEnabled ? "with" : "without"} JavaScript, on the page of a key`, () => {
    test.use({ javaScriptEnabled });

    test("its renders are counted and listed", async ({ page, member, baseURL }) => {
      const other = (await platen(["keys", "create", "--email", member.email, "--name", "Other"])).trim();
      for (const key of [member.key, member.key, other.split("\n").pop()!]) {
        const answer = await fetch(`${baseURL}/api/v1/renderers/pdf`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ parts: ["<p>Counted"], output_encoding: "binary" }),
        });
        expect(answer.status).toBe(200);
      }
      await page.goto("/dashboard/api-keys");
      await page.getByRole("link", { name: "Tests" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tests");
      const main = page.getByRole("main");
      await expect(main).toContainText(/Last used .+ from\s+127\.0\.0\.1/);
      await main.getByRole("link", { name: "7 days" }).click();
      await expect(main.locator(".figure", { hasText: "Renders" })).toContainText("2");
      await main.getByText("Show as a table").click();
      const today = main.getByRole("row").filter({ has: page.getByRole("cell", { name: "2", exact: true }) });
      await today.getByRole("link").click();
      await expect(page).toHaveURL(/\/dashboard\/renders\?from=[\d-]+&to=[\d-]+&key=[0-9a-f-]{36}$/);
      await expect(page.getByRole("row").filter({ hasText: "Succeeded" })).toHaveCount(2);
    });

    test("its settings are changed and apply to the next request", async ({ page, member, baseURL, forgive }) => {
      forgive(/422/);
      await page.goto("/dashboard/api-keys");
      await page.getByRole("link", { name: "Tests" }).click();
      const form = page.getByRole("main");
      await form.getByRole("textbox", { name: "Name", exact: true }).fill("Billing");
      await form.getByLabel("Allowed addresses").fill("203.0.113.300");
      await form.getByRole("button", { name: "Save settings" }).click();
      await expect(form.getByRole("alert").getByRole("link")).toHaveText(/^One per line: an address/);
      await expect(form.getByRole("textbox", { name: "Name", exact: true })).toHaveValue("Billing");
      expect(await status(baseURL!, member.key)).toBe(200);

      await form.getByLabel("Allowed addresses").fill("203.0.113.7");
      await form.getByLabel("Expires").selectOption("On a day…");
      await form.getByLabel("Last day, in UTC").fill("2040-02-29");
      await form.getByRole("checkbox", { name: /^templates:read / }).uncheck();
      await form.getByRole("button", { name: "Save settings" }).click();
      await expect(page.getByRole("status")).toContainText("Settings saved.");
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Billing");
      await expect(form.getByLabel("Last day, in UTC")).toHaveValue("2040-02-29");
      await expect(form.getByRole("checkbox", { name: /^templates:read / })).not.toBeChecked();
      expect(await status(baseURL!, member.key)).toBe(403);

      await form.getByLabel("Allowed addresses").fill("");
      await form.getByRole("button", { name: "Save settings" }).click();
      await expect(page.getByRole("status")).toContainText("Settings saved.");
      expect(await status(baseURL!, member.key)).toBe(200);
      await page.goto("/dashboard/team/log");
      await expect(page.getByRole("main")).toContainText(
        "changed the name, scopes, expiry and allowed addresses of the API key Billing",
      );
    });
  });
}

/** Renders a small document with a key and returns the status. */
async function renderStatus(baseURL: string, key: string): Promise<number> {
  const answer = await fetch(`${baseURL}/api/v1/renderers/pdf`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ parts: ["<p>Counted"], output_encoding: "binary" }),
  });
  return answer.status;
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(`${javaScriptEnabled ? "with" : "without"} JavaScript, a key with a credit limit`, () => {
    test.use({ javaScriptEnabled });

    test("is created, stops at the limit and goes on with a higher one", async ({ page, member, baseURL, forgive }) => {
      forgive(/422/);
      expect(member.key).toBeTruthy();
      await page.goto("/dashboard/api-keys");
      await page.getByRole("button", { name: "New key" }).click();
      const create = dialog(page, "New key");
      await create.getByLabel("Name").fill("Campaign");
      await create.getByText("Test", { exact: true }).click();
      await expect(create.getByLabel("Credit limit")).toBeHidden();
      await create.getByText("Live", { exact: true }).click();
      await create.getByLabel("Credit limit").fill("none");
      await create.getByRole("button", { name: "Create key" }).click();
      await expect(create.getByRole("alert").getByRole("link")).toHaveText(/^Enter a number of credits from 1/);
      await expect(create.getByLabel("Credit limit")).toHaveValue("none");
      await create.getByLabel("Credit limit").fill("1");
      await create.getByRole("button", { name: "Create key" }).click();
      const key = await shownKey(page);
      await dialog(page, "Copy the key now").getByRole("button", { name: "Done" }).click();
      await expect(page.getByRole("row", { name: /^Campaign/ })).toContainText("0 of 1 credits this month");
      expect(await renderStatus(baseURL!, key)).toBe(200);
      expect(await renderStatus(baseURL!, key)).toBe(403);

      await page.getByRole("link", { name: "Campaign" }).click();
      const main = page.getByRole("main");
      await expect(main.getByRole("img", { name: "1 of 1 credits this month" })).toBeVisible();
      await main.getByLabel("Credit limit").fill("2");
      await main.getByRole("button", { name: "Save settings" }).click();
      await expect(page.getByRole("status")).toContainText("Settings saved.");
      await expect(main.getByRole("img", { name: "1 of 2 credits this month" })).toBeVisible();
      expect(await renderStatus(baseURL!, key)).toBe(200);
      expect(await renderStatus(baseURL!, key)).toBe(403);
      await page.goto("/dashboard/team/log");
      await expect(page.getByRole("main")).toContainText("changed the credit limit of the API key Campaign");
    });
  });
}

for (const width of [1280, 390]) {
  test(`the page of a key is accessible at ${width} px`, async ({ page, member, hydrated, expectPresentable }) => {
    await platen(["keys", "create", "--email", member.email, "--name", "Campaign", "--credit-limit", "12500"]);
    await page.setViewportSize({ width, height: 900 });
    await page.goto("/dashboard/api-keys");
    await expect(page.getByText("0 of 12,500 credits this month")).toBeVisible();
    await page.getByRole("link", { name: "Campaign" }).click();
    await hydrated(page);
    await expect(page.getByRole("img", { name: "0 of 12,500 credits this month" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Save settings" })).toBeVisible();
    await expectPresentable(page, "api-key");
  });
}
