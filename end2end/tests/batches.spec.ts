import type { APIRequestContext, Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { type Member, platen } from "../people.ts";
import { setting } from "../service.ts";

const SIZES = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
];

/** Creates a template by the API. */
async function makeTemplate(
  request: APIRequestContext,
  member: Member,
  content: string,
  name = "Invoice",
): Promise<string> {
  const answer = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/templates`, {
    headers: { authorization: `Bearer ${member.key}` },
    data: { template: { name, content } },
  });
  const { data } = (await answer.json()) as { data: { id: string } };
  return data.id;
}

/** Creates a batch by the API, of which no render ends. */
async function makeEndless(request: APIRequestContext, member: Member): Promise<string> {
  const template = await makeTemplate(request, member, "{{ number }}", "Statement");
  const answer = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/batches`, {
    headers: { authorization: `Bearer ${member.key}` },
    data: {
      batch: {
        name: "Statements of the third quarter",
        render: {
          parts: [{ type: "template", content: { template_id: template } }],
          evaluate_js: { expression: "new Promise(() => {})" },
        },
        rows: [{ number: 1 }, { number: 2 }, { number: 3 }],
      },
    },
  });
  const { data } = (await answer.json()) as { data: { id: string } };
  return data.id;
}

/** Creates a batch by the API that is on hold after its first row, because its key may use one credit. */
async function makeHeld(request: APIRequestContext, member: Member): Promise<string> {
  const limited = ["keys", "create", "--email", member.email, "--name", "Limited", "--credit-limit", "1"];
  const key = (await platen(limited)).trim();
  const answer = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/batches`, {
    headers: { authorization: `Bearer ${key}` },
    data: {
      batch: {
        name: "Dunning letters",
        render: { parts: ["<h1>Letter {{ number }}</h1>"] },
        rows: [{ number: 1 }, { number: 2 }, { number: 3 }],
      },
    },
  });
  const { data } = (await answer.json()) as { data: { id: string } };
  return data.id;
}

/** Creates a batch by the form, and ends on its page. */
async function create(page: Page, name: string): Promise<void> {
  await page.goto("/dashboard/batches/new");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Template").selectOption("Invoice");
  await page.getByRole("button", { name: "Create batch" }).click();
  await expect(page.getByText("Batch created.")).toBeVisible();
}

/** Uploads a file with rows on the page of a batch, which begins. */
async function upload(page: Page, name: string, content: string): Promise<void> {
  await page.getByLabel("Check the rows before the batch begins").uncheck();
  await uploadToCheck(page, name, content);
}

/** Uploads a file with rows on the page of a batch. */
async function uploadToCheck(page: Page, name: string, content: string): Promise<void> {
  await page.getByLabel("File").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(content) });
  await page.getByRole("button", { name: "Upload" }).click();
}

/** Waits for the end of a batch. Without JavaScript, its page has to be loaded again. */
async function ended(page: Page, javaScriptEnabled: boolean, text: string): Promise<void> {
  await expect(async () => {
    if (!javaScriptEnabled) await page.goto(new URL(page.url()).pathname);
    await expect(page.getByText(text, { exact: true })).toBeVisible({ timeout: 500 });
  }).toPass({ timeout: 20_000 });
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a file becomes documents, and a malformed one is explained", async ({ page, member, request }) => {
      await makeTemplate(request, member, "<h1>Invoice {{ number }}</h1><p>{{ customer.name }}</p>");
      await page.goto("/dashboard/batches");
      await expect(page.getByText("No batches yet")).toBeVisible();
      await page.getByRole("link", { name: "New batch" }).first().click();
      await page.getByLabel("Name", { exact: true }).fill("November");
      await page.getByRole("button", { name: "Create batch" }).click();
      await expect(page.getByLabel("Template")).toHaveAccessibleDescription(/Choose a template with a release/);
      await expect(page.getByLabel("Name", { exact: true })).toHaveValue("November");
      await page.getByLabel("Template").selectOption("Invoice");
      await expect(page.getByLabel("Path of each document")).toBeHidden();
      const names = page.getByLabel("File names in the ZIP archive");
      await names.fill("invoice.pdf");
      await page.getByRole("button", { name: "Create batch" }).click();
      await expect(names).toHaveAccessibleDescription(/each row has a name of its own/);
      await names.fill("{{ customer.name }}/{{ number }}.pdf");
      await page.getByRole("button", { name: "Create batch" }).click();
      await expect(page.getByText("Batch created.")).toBeVisible();

      await upload(page, "rows.csv", "number,customer.name\n1,Ann\n2,Bob,Berlin\n");
      const rejection = page.getByRole("status").filter({ hasText: "No rows were stored" });
      await expect(rejection).toContainText("Line 3:");
      await upload(page, "rows.csv", "number,customer.name\n1,Ann\n2,Bob\n");
      await ended(page, javaScriptEnabled, "Ended");
      await expect(page.getByText("2 of 2 rows")).toBeVisible();
      const downloading = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download results (CSV)" }).click();
      expect((await downloading).suggestedFilename()).toBe("platen-batch-results.csv");
      const archive = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download documents (ZIP)" }).click();
      expect((await archive).suggestedFilename()).toMatch(/^[0-9a-f-]{36}\.zip$/);
      const collection = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download documents (PDF)" }).click();
      expect((await collection).suggestedFilename()).toMatch(/^[0-9a-f-]{36}\.pdf$/);
      await page.getByRole("link", { name: /^Row 2:/ }).click();
      await expect(page.getByRole("heading", { level: 1 })).toContainText("Invoice");

      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Batches" }).click();
      await expect(page.getByRole("row", { name: /November/ })).toContainText("2 of 2");
    });

    test("failed rows are downloaded and retried", async ({ page, member, request }) => {
      await makeTemplate(request, member, "<h1>Invoice {{ number }}</h1>");
      await page.goto("/dashboard/batches/new");
      await page.getByLabel("Name", { exact: true }).fill("November");
      await page.getByLabel("Template").selectOption("Invoice");
      await page.getByLabel("File names in the ZIP archive").fill("{{ number }}.pdf");
      await page.getByRole("button", { name: "Create batch" }).click();
      await upload(page, "rows.csv", "number\n1\n1\n2\n");
      await ended(page, javaScriptEnabled, "Ended with errors");
      const failed = page.getByRole("table", { name: "Failed rows" });
      await expect(failed).toContainText("same file name");
      const downloading = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download errors (CSV)" }).click();
      expect((await downloading).suggestedFilename()).toBe("platen-batch-errors.csv");
      await page.getByRole("button", { name: "Retry 1 failed row" }).click();
      await expect(page.getByText("The failed rows are rendered again.")).toBeVisible();
      await ended(page, javaScriptEnabled, "Ended with errors");
      await expect(failed.getByRole("rowheader")).toHaveCount(1);
    });

    test("a test batch is free, and marked", async ({ page, member, request }) => {
      await makeTemplate(request, member, "<h1>Invoice {{ number }}</h1>");
      await page.goto("/dashboard/batches/new");
      await page.getByLabel("Name", { exact: true }).fill("Trial");
      await expect(page.getByRole("radio", { name: /^Live/ })).toBeChecked();
      await page.getByRole("radio", { name: /^Test/ }).check();
      await page.getByRole("button", { name: "Create batch" }).click();
      await expect(page.getByLabel("Template")).toHaveAccessibleDescription(/Choose a template with a release/);
      await expect(page.getByRole("radio", { name: /^Test/ })).toBeChecked();
      await page.getByLabel("Template").selectOption("Invoice");
      await page.getByRole("button", { name: "Create batch" }).click();
      await expect(page.getByText("Batch created.")).toBeVisible();
      await expect(page.getByText("Test", { exact: true })).toBeVisible();
      await expect(page.getByText("Documents of a test batch are free.")).toBeVisible();
      await page.goto("/dashboard/batches");
      await expect(page.getByRole("row", { name: /Trial/ }).getByText("Test", { exact: true })).toBeVisible();
    });

    test("rows are loaded from a URL", async ({ page, member, request }) => {
      await makeTemplate(request, member, "<h1>Invoice {{ number }}</h1><p>{{ customer.name }}</p>");
      await create(page, "October");
      const button = page.getByRole("button", { name: "Upload" });
      const url = page.getByLabel("Load rows from a URL");
      const rejection = page.getByRole("status").filter({ hasText: "No rows were stored" });
      await button.click();
      await expect(rejection).toContainText("Choose a file, or enter the URL of one.");
      await url.fill(`${setting("PLATEN_TEST_RECEIVER")}/500`);
      await button.click();
      await expect(rejection).toContainText("status 500 instead of 200");
      await expect(url).toHaveValue(/\/500$/);
      await url.fill(`${setting("PLATEN_TEST_RECEIVER")}/rows.csv`);
      await page.getByLabel("Check the rows before the batch begins").uncheck();
      await button.click();
      await ended(page, javaScriptEnabled, "Ended");
      await expect(page.getByText("2 of 2 rows")).toBeVisible();
    });

    test("columns are mapped and rows previewed before a batch begins", async ({ page, context, member, request }) => {
      await makeTemplate(request, member, "<h1>{{ number }}</h1><p>{{ customer.name }}</p><p>{{ total }}</p>");
      await create(page, "December");
      await expect(page.getByLabel("Check the rows before the batch begins")).toBeChecked();
      await uploadToCheck(page, "rows.csv", "Nr,Client,note\n17,Ann,x\n18,Bob,y\n");
      await expect(page.getByText("Rows stored. Check them, then begin.")).toBeVisible();
      await expect(page.getByText("2 rows are not begun yet")).toBeVisible();
      await expect(page.getByText("No column for")).toContainText("customer.name, number, total");

      const number = page.getByLabel("Nr", { exact: true });
      const client = page.getByLabel("Client", { exact: true });
      await number.selectOption("number");
      await client.selectOption("number");
      await page.getByRole("button", { name: "Save columns" }).click();
      await expect(page.getByRole("alert")).toContainText("Check the highlighted field.");
      for (const field of [number, client]) {
        await expect(field).toHaveValue("number");
        await expect(field).toHaveAccessibleDescription(/no other column has or becomes/);
      }
      await client.selectOption("customer.name");
      await page.getByRole("button", { name: "Save columns" }).click();
      await expect(page.getByText("Columns saved.")).toBeVisible();
      await expect(client).toHaveValue("customer.name");
      await expect(page.getByText("No column for")).toContainText("No column for total");

      await page.getByLabel("Row, from 1 to 2").fill("2");
      const answered = context.waitForEvent("response", (response) => response.url().endsWith("/preview.pdf"));
      const tab = context.waitForEvent("page");
      await page.getByRole("button", { name: "Open PDF" }).click();
      const headers = await (await answered).allHeaders();
      expect(headers["content-type"]).toBe("application/pdf");
      expect(headers["content-disposition"]).toContain('inline; filename="Row 2.pdf"');
      await (await tab).close();

      await page.getByRole("button", { name: "Begin" }).click();
      await expect(page.getByText("Batch resumed.")).toBeVisible();
      await ended(page, javaScriptEnabled, "Ended");
      await expect(page.getByText("2 of 2 rows")).toBeVisible();
      await page.reload();
      await expect(page.getByRole("button", { name: "Save columns" })).toHaveCount(0);
    });

    test("a batch is paused, resumed and cancelled", async ({ page, member, request }) => {
      const id = await makeEndless(request, member);
      await page.goto(`/dashboard/batches/${id}`);
      await page.getByRole("button", { name: "Pause" }).click();
      await expect(page.getByText("Batch paused.")).toBeVisible();
      await page.getByRole("button", { name: "Resume" }).click();
      await expect(page.getByText("Batch resumed.")).toBeVisible();
      await page.getByRole("button", { name: "Cancel batch" }).click();
      const dialog = page.getByRole("dialog", { name: "Cancel batch" });
      await dialog.getByRole("button", { name: "Cancel batch" }).click();
      await expect(page.getByText("Batch cancelled.")).toBeVisible();
      await expect(page.getByRole("button", { name: "Resume" })).toHaveCount(0);
      const failed = page.getByRole("table", { name: "Failed rows" });
      await expect(async () => {
        if (!javaScriptEnabled) await page.reload();
        await expect(failed.getByRole("rowheader")).toHaveText(["1", "2", "3"], { timeout: 500 });
      }).toPass({ timeout: 20_000 });
      await expect(failed).toContainText("The render was cancelled.");
    });
  });
}

for (const viewport of SIZES) {
  test.describe(`at ${viewport.width} px`, () => {
    test.use({ viewport });

    test("the pages are accessible", async ({ page, member, request, expectPresentable }) => {
      const seen = (state: string) => expectPresentable(page, `batches-${state}`);
      await page.goto("/dashboard/batches");
      await seen("empty");
      // Visited at the end: its first row is counted by a turn that is 15 seconds later.
      const held = await makeHeld(request, member);
      await makeTemplate(request, member, "<h1>Invoice {{ number }}</h1>");
      await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/connections`, {
        headers: { authorization: `Bearer ${member.key}` },
        data: {
          connection: {
            provider: "aws_s3",
            name: "Archive",
            bucket: "northwind-archive",
            path_prefix: "invoices/",
            region: "eu-central-1",
            credentials: { access_key_id: "AKIA", secret_access_key: "secret" },
          },
        },
      });
      await page.goto("/dashboard/batches/new");
      await seen("new");
      await page.getByLabel("Name", { exact: true }).fill("Invoices of November");
      await page.getByLabel("Template").selectOption("Invoice");
      await page.getByLabel("Store the documents in").selectOption("Archive (s3://northwind-archive/invoices/)");
      await page.getByRole("button", { name: "Create batch" }).click();
      await expect(page.getByLabel("Path of each document")).toHaveAccessibleDescription(/so that each row has a path/);
      await seen("new-rejected");
      await page.getByLabel("Path of each document").fill("2026/11/{{ invoice_number }}.pdf");
      await page.getByRole("button", { name: "Create batch" }).click();
      await seen("created");
      await upload(page, "rows.csv", "number,customer\n1,Ann\n2,Bob,Berlin\n");
      await seen("rejected-file");
      await upload(page, "rows.csv", `number\n${Array.from({ length: 24 }, (_, index) => index).join("\n")}\n`);
      await ended(page, true, "Ended with errors");
      await seen("failed");

      await create(page, "Reminders");
      await uploadToCheck(page, "rows.csv", "Nr,Client\n17,Ann\n18,Bob\n");
      await seen("columns");
      await page.getByLabel("Nr", { exact: true }).selectOption("number");
      await page.getByLabel("Client", { exact: true }).selectOption("number");
      await page.getByRole("button", { name: "Save columns" }).click();
      await expect(page.getByLabel("Nr", { exact: true })).toHaveAccessibleDescription(/no other column/);
      await seen("columns-rejected");

      const endless = await makeEndless(request, member);
      await create(page, "Letters to all customers");
      await page.goto(`/dashboard/batches/${endless}`);
      await expect(page.getByText("0 of 3 rows")).toBeVisible();
      await expect(page.getByRole("table", { name: "First rows" })).toContainText("In progress");
      await seen("running");
      await page.getByRole("button", { name: "Cancel batch" }).click();
      await seen("cancel");
      await page.goto("/dashboard/batches");
      await seen("list");
      await page.goto(`/dashboard/batches/${endless}`);
      await page.getByRole("button", { name: "Cancel batch" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel batch" }).click();
      await expect(page.getByText("Batch cancelled.")).toBeVisible();
      const failed = page.getByRole("table", { name: "Failed rows" });
      await expect(failed.getByRole("rowheader")).toHaveText(["1", "2", "3"], { timeout: 20_000 });
      await seen("cancelled");

      await page.goto(`/dashboard/batches/${held}`);
      await expect(page.getByText("On hold: not enough credits")).toBeVisible();
      await expect(page.getByText("1 of 3 rows")).toBeVisible({ timeout: 20_000 });
      await expect(page.getByRole("button", { name: "Cancel batch" })).toBeVisible();
      await seen("held");
    });
  });
}
