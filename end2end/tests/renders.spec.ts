import type { APIRequestContext, Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { type Member, makeMember } from "../people.ts";

const ATTACK = "<script>document.title = 'attacked'</script>";
const PAGE = `<title>Invoice 47 &lt;script&gt;document.title = 'attacked'&lt;/script&gt;</title>
  <h1>Invoice 47</h1><img src="http://10.0.0.1/figures.png">
  <script>console.error("<script>document.title = 'attacked'</" + "script>")</script>`;

/** Renders synchronously and returns the render's id. */
async function render(request: APIRequestContext, member: Member, part: unknown, more: object = {}): Promise<string> {
  const answer = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/renderers/pdf`, {
    headers: { authorization: `Bearer ${member.key}` },
    data: { parts: [part], output_encoding: "binary", ...more },
  });
  return answer.headers()["x-render-id"]!;
}

/** Enqueues an asynchronous render and returns its id. */
async function queue(request: APIRequestContext, member: Member, more: object = {}): Promise<string> {
  const answer = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/renderers/pdf/async`, {
    headers: { authorization: `Bearer ${member.key}` },
    data: { parts: ["<title>Queued</title><h1>Queued</h1>"], ...more },
  });
  return answer.headers()["x-render-id"]!;
}

/** Creates a link to the document of a render and returns its URL. */
async function link(request: APIRequestContext, member: Member, render: string): Promise<string> {
  const answer = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/renders/${render}/links`, {
    headers: { authorization: `Bearer ${member.key}` },
    data: { link: {} },
  });
  return (await answer.json()).data.url;
}

/** Reloads the page until the condition holds. */
const loadedUntil = (page: Page, shown: () => Promise<void>) =>
  expect(async () => {
    await page.reload();
    await shown();
  }).toPass({ timeout: 20_000 });

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });
    // With JavaScript, filters apply when they change.
    const apply = async (page: Page) => {
      const button = page.getByRole("button", { name: "Filter", exact: true });
      if (javaScriptEnabled) await expect(button).toBeHidden();
      else await button.click();
    };

    test("a render is found in the list and looked at", async ({ page, member, request }) => {
      // Thumbnails are created while the account has a dashboard page open.
      await page.goto("/dashboard/renders");
      const good = await render(request, member, PAGE);
      const bad = await render(request, member, "http://127.0.0.1:1/");
      await page.goto("/dashboard/renders");
      const rows = page.getByRole("table", { name: "Renders" }).locator("tbody").getByRole("row");
      await expect(rows).toHaveCount(2);
      await expect(page.getByRole("img", { name: /^Last 2 renders: 1 succeeded, 1 failed\./ })).toBeVisible();

      await page.getByLabel("Status").selectOption("Failed");
      await apply(page);
      await expect(page).toHaveURL(/state=failed/);
      await expect(rows).toHaveCount(1);
      await expect(rows).toContainText("The address");
      await expect(page.getByText("1 render matches the filters")).toBeVisible();
      await rows.getByRole("link").click();
      await expect(page).toHaveURL(`/dashboard/renders/${bad}`);
      await expect(page.getByRole("alert")).toContainText("No credits were charged");
      await expect(page.getByRole("alert")).toContainText("/parts/0");
      await expect(page.getByRole("table", { name: "Phases of the render" })).toContainText("not reached");
      const failedPart = page.getByRole("group", { name: "Part 1, URL" });
      await loadedUntil(page, () => expect(failedPart).toHaveText("http://127.0.0.1:1/", { timeout: 200 }));
      await expect(page.getByRole("link", { name: "Open in playground" })).toHaveAttribute(
        "href",
        `/dashboard/playground?render=${bad}`,
      );

      await page.goto("/dashboard/renders");
      await page.getByLabel("Find by id, title or template").fill("invoice 47");
      await apply(page);
      await expect(rows).toHaveCount(1);
      await expect(rows).toContainText(ATTACK);
      await rows.getByRole("link").click();
      await expect(page).toHaveURL(`/dashboard/renders/${good}`);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Invoice 47 ${ATTACK}`);
      await expect(page).not.toHaveTitle(/attacked/);
      const part = page.getByRole("group", { name: "Part 1, HTML" });
      await loadedUntil(page, () => expect(part).toHaveText(PAGE, { timeout: 200 }));
      const network = page.getByRole("table", { name: "Network requests of the page" });
      await expect(network.getByRole("row", { name: "10.0.0.1/figures.png" })).toContainText("refused");
      await expect(page.getByRole("table", { name: "Console messages" })).toContainText(ATTACK);
      await expect(page.getByText(/^Conforms to PDF\/A-2a/)).toBeVisible();
      await expect(page.getByText("The document was returned in the response to the request")).toBeVisible();
      const picture = page.locator(".thumbs img");
      await loadedUntil(page, () => expect(picture).toHaveCount(1, { timeout: 200 }));
      await expect
        .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth), { message: "it is drawn" })
        .toBe(510);
    });

    test("a callback is sent again", async ({ page, member, request }) => {
      const id = await queue(request, member, { callback: { url: "https://hooks.invalid/platen" } });
      await page.goto(`/dashboard/renders/${id}`);
      const tries = page
        .getByRole("table", { name: /^Delivery attempts/ })
        .locator("tbody")
        .getByRole("row");
      await loadedUntil(page, () => expect(tries).toHaveCount(1, { timeout: 200 }));
      await expect(tries).toContainText("no response");
      await page.getByRole("button", { name: "Resend" }).click();
      await expect(page).toHaveURL(`/dashboard/renders/${id}`);
      await loadedUntil(page, () => expect(tries).toHaveCount(2, { timeout: 200 }));
    });

    test("links to a document are revoked", async ({ page, member, request }) => {
      const id = await queue(request, member);
      await page.goto(`/dashboard/renders/${id}`);
      await loadedUntil(page, () => expect(page.getByText("Stored until")).toBeVisible({ timeout: 200 }));
      await expect(page.getByRole("button", { name: "Revoke links" })).toBeHidden();
      const links = [await link(request, member, id), await link(request, member, id)];
      await page.reload();
      await expect(page.getByText("2 valid, the last until")).toBeVisible();
      await page.getByRole("button", { name: "Revoke links" }).click();
      await expect(page.getByText("valid, the last until")).toBeHidden();
      await expect(page).toHaveURL(`/dashboard/renders/${id}`);
      for (const url of links) expect((await request.get(url)).status()).toBe(410);
    });

    test("another account's render is not there", async ({ page, member, request, forgive }) => {
      forgive(/404/);
      expect(member.email).toContain("@");
      const foreign = await render(request, await makeMember(), "<p>");
      const answer = await page.goto(`/dashboard/renders/${foreign}`);
      expect(answer?.status()).toBe(404);
      await expect(page.getByText("Page not found. Check the address.")).toBeVisible();
    });
  });
}

test("the request of a render is copied, and opened in the playground as it was sent", async ({
  page,
  member,
  request,
  hydrated,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const options = {
    size: { width: 100, height: 50, unit: "mm" },
    margin: { top: 5, right: 0, bottom: 0, left: 0, unit: "mm" },
    evaluate_js: { expression: "document.title = 'Set'" },
    render_header_footer: true,
    header_template: "<p>Head</p>",
    pages: "1",
  };
  const id = await render(request, member, "<p>Fine print", options);
  await page.goto(`/dashboard/renders/${id}`);
  const part = page.getByRole("group", { name: "Part 1, HTML" });
  await loadedUntil(page, () => expect(part).toHaveText("<p>Fine print", { timeout: 200 }));
  await hydrated(page);
  const sent = { parts: [{ type: "html", content: "<p>Fine print" }], output_encoding: "binary", ...options };
  await page.getByRole("button", { name: "Copy as JSON" }).click();
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toEqual(sent);
  await expect(page.getByRole("table", { name: "Request options" })).toContainText("render_header_footer");
  await page.getByRole("link", { name: "Open in playground" }).click();
  await page.getByRole("tab", { name: "JSON" }).click();
  const json = page.getByRole("group", { name: "Request as JSON" });
  await expect(json).toContainText("Fine print");
  expect(JSON.parse((await json.textContent())!)).toEqual(sent);
  await page.getByRole("button", { name: "Render", exact: true }).click();
  await expect(page.getByRole("img", { name: "Page 1 of 1" })).toBeVisible();
});

test("a row leads to its render, wherever it is clicked", async ({ page, member, request }) => {
  const id = await render(request, member, "<title>Invoice</title>");
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto("/dashboard/renders");
    const row = page.getByRole("table", { name: "Renders" }).locator("tbody").getByRole("row");
    await expect(row.getByRole("link")).toHaveCount(1);
    const time = row.locator("time").filter({ visible: true });
    await expect(time).toHaveText(/^\d+ \w{3} \d\d:\d\d:\d\d$/);
    await expect(time).toHaveAttribute("datetime", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const took = await row.getByRole("cell", { name: /s$/ }).first().textContent();
    await row.click();
    await expect(page).toHaveURL(`/dashboard/renders/${id}`);
    await expect(page.getByRole("row", { name: "Total" }).getByRole("cell").last()).toHaveText(took!);
  }
});

test("a failed template leads to its line in the editor", async ({ page, member, request, hydrated }) => {
  const created = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/templates`, {
    headers: { authorization: `Bearer ${member.key}` },
    data: { template: { name: "Order letter", content: "<h1>Order</h1>\n<p>{{ amount|currency('EUR') }}</p>" } },
  });
  const editor = `/dashboard/templates/${created.headers().location!.split("/").pop()}`;
  const content = { template_id: editor.split("/").pop(), context: { amount: "two" } };
  const id = await render(request, member, { type: "template", content });
  await page.goto(`/dashboard/renders/${id}`);
  const failure = page.getByRole("alert");
  await expect(failure).toContainText("Line 2, column");
  await expect(failure.getByRole("link", { name: "View network requests" })).toHaveCount(0);
  await expect(page.getByText("Template: Order letter, version 1")).toBeVisible();
  await failure.getByRole("link", { name: "Open the template at line 2" }).click();
  await expect(page).toHaveURL(`${editor}#line-2`);
  await hydrated(page);
  await expect(page.locator(".cm-activeLine").first()).toContainText("amount");
});

test("filters apply at once, and the address has them", async ({
  page,
  member,
  request,
  hydrated,
  context,
  picture,
}) => {
  await render(request, member, "<title>Invoice</title>");
  await render(request, member, "http://127.0.0.1:1/");
  await page.goto("/dashboard/renders");
  await hydrated(page);
  const today = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" }).format();
  await expect(page.getByText(`2 since ${today}`)).toBeVisible();
  const rows = page.getByRole("table", { name: "Renders" }).locator("tbody").getByRole("row");
  const status = page.getByLabel("Status");
  await status.focus();
  await page.keyboard.press("S");
  await expect(page).toHaveURL(/\?state=succeeded$/);
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("Invoice");
  await expect(status).toBeFocused();

  const search = page.getByRole("searchbox");
  const nothing = page.locator(".empty__title");
  await search.pressSequentially("nothing");
  await expect(nothing).toHaveText("No renders match these filters");
  await expect(search).toBeFocused();
  await expect(page.getByRole("status")).toHaveText("No renders match these filters");

  const shared = await context.newPage();
  await shared.goto(page.url());
  await expect(shared.locator(".empty__title")).toHaveText("No renders match these filters");
  await expect(shared.getByLabel("Status")).toHaveValue("succeeded");
  await shared.close();

  await page.goBack();
  await expect(page).toHaveURL(/\?state=succeeded$/);
  await expect(search).toHaveValue("");
  await expect(rows).toHaveCount(1);
  await page.reload();
  await expect(status).toHaveValue("succeeded");
  await expect(rows).toHaveCount(1);
  await page.goBack();
  await expect(page).toHaveURL(/\/renders$/);
  await expect(rows).toHaveCount(2);
  await expect(status).toHaveValue("");

  await page.getByRole("button", { name: "More filters" }).click();
  await page.getByLabel("Execution").selectOption({ index: 2 });
  await expect(page).toHaveURL(/mode=/);
  await expect(rows).toHaveCount(0);
  await expect(page.getByRole("button", { name: "More filters (1)" })).toBeVisible();
  await picture(page, "renders-more-filters");
});

test("the list shows what is new by itself, and leaves the focus where it is", async ({
  page,
  member,
  request,
  hydrated,
}) => {
  const first = await render(request, member, "<title>First</title>");
  await page.goto("/dashboard/renders");
  await hydrated(page);
  const rows = page.getByRole("table", { name: "Renders" }).locator("tbody").getByRole("row");
  await rows.getByRole("link").focus();
  await expect(async () => {
    await render(request, member, "<title>Later</title>");
    await expect(rows.filter({ hasText: "Later" }).first()).toBeVisible({ timeout: 3000 });
  }).toPass({ timeout: 20_000 });
  await expect(rows.last()).toContainText("First");
  const focused = page.locator(":focus");
  await expect(focused).toHaveAttribute("href", `/dashboard/renders/${first}`);
  await expect(page.getByRole("status")).toContainText(/^Newest render \S+: HTML, /);
});

test("the page of a render shows its end and its pages by itself", async ({ page, member, request, hydrated }) => {
  const id = await queue(request, member);
  await page.goto(`/dashboard/renders/${id}`);
  await hydrated(page);
  await expect(page.getByText("Succeeded", { exact: true })).toBeVisible({ timeout: 15_000 });
  await expect(page.locator(".thumbs img")).toHaveCount(1, { timeout: 15_000 });
  await expect(page.getByRole("link", { name: "Page 1" })).toHaveAttribute("href", /\.pdf#page=1$/);
  await expect(page.getByRole("row", { name: /^Upload/ })).toBeVisible();
});

for (const width of [1280, 390]) {
  test(`the pages of renders are accessible at ${width} px`, async ({ page, member, request, expectPresentable }) => {
    await page.setViewportSize({ width, height: 900 });
    const look = async (path: string, name: string) => {
      await page.goto(path);
      await expectPresentable(page, name);
      const rail = page.locator(".rail");
      const overflow = await rail.evaluate((element) => element.scrollWidth - element.clientWidth);
      expect(overflow, "the rail has no horizontal scrollbar").toBeLessThanOrEqual(0);
    };
    await look("/dashboard/renders", "renders-none");
    const good = await render(request, member, PAGE);
    const bad = await render(request, member, "http://127.0.0.1:1/");
    const queued = await queue(request, member, { callback: { url: "https://hooks.invalid/platen" } });
    await page.goto(`/dashboard/renders/${queued}`);
    await expect(page.locator(".thumbs img")).toHaveCount(1, { timeout: 15_000 });
    await link(request, member, queued);
    await look(`/dashboard/renders/${queued}`, "render-async");
    await look(`/dashboard/renders/${good}`, "render");
    await look(`/dashboard/renders/${bad}`, "render-failed");
    await look("/dashboard/renders", "renders");
  });
}
