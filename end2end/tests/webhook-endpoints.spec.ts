import type { Locator, Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { setting } from "../service.ts";

const receiver = (path: string) => `${setting("PLATEN_TEST_RECEIVER")}${path}`;

/** The panel of the endpoint with this description. */
const panelOf = (page: Page, description: string): Locator =>
  page.getByRole("article").filter({ has: page.getByRole("heading", { name: description, exact: true }) });

/** Adds an endpoint in the dialog of the page. */
async function add(page: Page, url: string, description: string): Promise<Locator> {
  await page.goto("/dashboard/webhooks");
  await page.getByRole("button", { name: "Add endpoint" }).click();
  const dialog = page.getByRole("dialog", { name: "Add endpoint" });
  await dialog.getByLabel("URL").fill(url);
  await dialog.getByLabel("Description").fill(description);
  await dialog.getByRole("button", { name: "Add endpoint" }).click();
  await expect(page.getByText("Endpoint added.")).toBeVisible();
  return panelOf(page, description);
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("an endpoint is added, edited, disabled, enabled and deleted", async ({ page, member }) => {
      expect(member.email).toContain("@");
      const panel = await add(page, receiver("/ok?token=hidden"), "Invoices");
      await expect(panel).toContainText("Enabled");
      await expect(panel).toContainText("key.expiring");
      await expect(panel).not.toContainText("hidden");

      await panel.getByRole("button", { name: "Edit Invoices" }).click();
      const edit = page.getByRole("dialog", { name: "Edit endpoint" });
      await expect(edit.getByLabel("URL")).toHaveValue(receiver("/ok?token=hidden"));
      await edit.getByLabel("Description").fill("Letters");
      await edit.getByLabel("key.expiring").uncheck();
      await edit.getByRole("button", { name: "Save" }).click();
      await expect(page.getByText("Endpoint saved.")).toBeVisible();
      const renamed = panelOf(page, "Letters");
      await expect(renamed).not.toContainText("key.expiring");

      await renamed.getByRole("button", { name: "Disable Letters" }).click();
      await expect(page.getByText("Endpoint disabled.")).toBeVisible();
      await expect(renamed).toContainText("Disabled");
      await renamed.getByRole("button", { name: "Enable Letters" }).click();
      await expect(renamed).toContainText("Enabled");

      await renamed.getByRole("button", { name: "Delete Letters" }).click();
      const remove = page.getByRole("dialog", { name: "Delete endpoint" });
      await remove.getByRole("button", { name: "Delete endpoint" }).click();
      await expect(page.getByText("Endpoint deleted.")).toBeVisible();
      await expect(page.getByText("No endpoints")).toBeVisible();
    });

    test("a private address is refused beside its field", async ({ page, member }) => {
      expect(member.email).toContain("@");
      await page.goto("/dashboard/webhooks");
      await page.getByRole("button", { name: "Add endpoint" }).click();
      const dialog = page.getByRole("dialog", { name: "Add endpoint" });
      await dialog.getByLabel("URL").fill("http://10.0.0.1/hook");
      await dialog.getByLabel("Description").fill("Inside");
      await dialog.getByRole("button", { name: "Add endpoint" }).click();
      await expect(dialog).toBeVisible();
      await expect(dialog.getByLabel("URL")).toHaveAccessibleDescription(/Private addresses are refused/);
      await expect(dialog.getByLabel("URL")).toHaveValue("http://10.0.0.1/hook");
      await expect(dialog.getByLabel("Description")).toHaveValue("Inside");
    });
  });
}

test("a test event arrives, and the list of deliveries shows it without a reload", async ({
  page,
  member,
  hydrated,
}) => {
  expect(member.email).toContain("@");
  const panel = await add(page, receiver("/ok"), "Receiver");
  await panel.getByRole("button", { name: "Send test event to Receiver" }).click();
  await expect(page.getByText("Test event queued.")).toBeVisible();
  await hydrated(page);
  const row = page
    .getByRole("table", { name: "Webhook deliveries" })
    .getByRole("row")
    .filter({ hasText: "webhook.test" });
  await expect(row.getByRole("rowheader")).toHaveText("webhook.test");
  await expect(row).toContainText("Delivered, 200", { timeout: 15_000 });
  await row.getByRole("button", { name: /^Open/ }).click();
  const drawer = page.getByRole("dialog", { name: /^Delivery for/ });
  await expect(drawer.getByRole("group", { name: /^Body/ })).toContainText('"type": "webhook.test"');
  await expect(drawer).toContainText("thanks");
});

test("a failed test event is shown with its status, and is not retried", async ({ page, member }) => {
  expect(member.email).toContain("@");
  const panel = await add(page, receiver("/500"), "Broken");
  await panel.getByRole("button", { name: "Send test event to Broken" }).click();
  const row = page.getByRole("row").filter({ hasText: "webhook.test" });
  await expect(row).toContainText("Stopped, 500", { timeout: 15_000 });
  await expect(panel).toContainText("Enabled");
});

test("an endpoint is added with the keyboard alone", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await page.goto("/dashboard/webhooks");
  await hydrated(page);
  await page.getByRole("button", { name: "Add endpoint" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Add endpoint" }).getByLabel("URL")).toBeFocused();
  await page.keyboard.type(receiver("/ok"));
  await page.keyboard.press("Tab");
  await page.keyboard.type("Keyboard");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Endpoint added.")).toBeVisible();
  await expect(panelOf(page, "Keyboard")).toContainText("Enabled");
});

for (const width of [1280, 390]) {
  test(`endpoints are accessible at ${width} px`, async ({ page, member, expectPresentable }) => {
    expect(member.email).toContain("@");
    await page.setViewportSize({ width, height: 900 });
    await add(page, receiver(`/500/${"long".repeat(40)}`), "A receiver with a long address");
    const panel = await add(page, receiver("/ok"), "Invoices");
    await expectPresentable(page, "webhook-endpoints");
    await page.locator("summary").filter({ hasText: "key.expiring" }).click();
    await expect(page.getByRole("group", { name: "Example of key.expiring" })).toBeVisible();
    await expectPresentable(page, "webhook-events");
    for (const [button, dialog] of [
      ["Edit Invoices", "Edit endpoint"],
      ["Delete Invoices", "Delete endpoint"],
    ] as const) {
      await panel.getByRole("button", { name: button }).click();
      await expect(page.getByRole("dialog", { name: dialog })).toBeVisible();
      await expectPresentable(page, `webhook-endpoint-${dialog.split(" ")[0]!.toLowerCase()}`);
      await page.keyboard.press("Escape");
    }
  });
}
