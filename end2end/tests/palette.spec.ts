import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import type { Member } from "../people.ts";

/** The palette's dialog. */
const palette = (page: Page) => page.getByRole("dialog", { name: "Search", exact: true });

async function open(page: Page, search: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await palette(page).getByRole("combobox", { name: "Search" }).fill(search);
}

/** Creates a template and a render by the API. Returns the id of the render. */
async function produce(member: Member): Promise<string> {
  const call = (path: string, body: object) =>
    fetch(`${process.env.PLATEN_TEST_URL}/api/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${member.key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const template = await call("templates", { template: { name: "Delivery <b>note</b>", content: "<p>x" } });
  expect(template.status).toBe(201);
  const render = await call("renderers/pdf/async", { parts: ["<title>Order LW-2041</title><p>found"] });
  expect(render.status).toBe(200);
  return render.headers.get("x-render-id")!;
}

test("pages, actions, templates and a render are reached by the keyboard alone", async ({ page, member, hydrated }) => {
  const render = await produce(member);
  await page.goto("/dashboard");
  await hydrated(page);
  await expect(page.getByRole("button", { name: "Search" })).toContainText("Ctrl K");

  await open(page, "members");
  await expect(palette(page).getByRole("option")).toHaveText(["Team", "Invite members"]);
  await expect(palette(page).getByRole("option", { name: "Team" })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/dashboard\/team$/);
  await hydrated(page);

  await open(page, "members");
  await expect(palette(page).getByRole("option")).toHaveCount(2);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  const invitation = page.getByRole("dialog", { name: /^Invite to/ });
  await expect(invitation.getByLabel("Email")).toBeFocused();
  await expect(palette(page)).toBeHidden();
  await expect(page).toHaveURL(/\/dashboard\/team$/);
  await page.keyboard.press("Escape");

  await open(page, "delivery <b>");
  await expect(palette(page).getByRole("option")).toHaveText(["Delivery <b>note</b>"]);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/dashboard\/templates\/[0-9a-f-]{36}$/);
  await hydrated(page);

  await open(page, render);
  await expect(palette(page).getByRole("group", { name: "Renders" }).getByRole("option")).toHaveText([render]);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/dashboard/renders/${render}$`));
});

test("renders are found by title, and the failed ones on their page", async ({ page, member, hydrated }) => {
  const render = await produce(member);
  await expect(async () => {
    await page.goto("/dashboard");
    await hydrated(page);
    await open(page, "lw-2041");
    const found = palette(page).getByRole("group", { name: "Renders" }).getByRole("option");
    await expect(found).toHaveText(["Order LW-2041"], { timeout: 1000 });
  }).toPass({ timeout: 20_000 });
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/dashboard/renders/${render}$`));
  await hydrated(page);
  await open(page, "fail");
  await expect(palette(page).getByRole("option")).toHaveText(["Failed renders"]);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/dashboard\/renders\?state=failed$/);
  await expect(page.getByLabel("Status")).toHaveValue("failed");
});

test("the palette fits into the window, and its button clears the search", async ({ page, member, hydrated }) => {
  expect(member.email).toBeTruthy();
  await page.setViewportSize({ width: 1366, height: 500 });
  await page.goto("/dashboard/billing");
  await hydrated(page);
  await page.keyboard.press("Control+k");
  const last = palette(page).getByRole("option").last();
  await expect(last).toBeAttached();
  const clear = palette(page).getByRole("button", { name: "Clear" });
  await expect(clear).toBeHidden();
  const box = (await palette(page).boundingBox())!;
  expect(box.y + box.height).toBeLessThanOrEqual(500);
  await page.keyboard.press("ArrowUp");
  await expect(last).toBeInViewport();
  await page.keyboard.type("billing");
  await expect(palette(page).getByRole("option")).toHaveText(["Usage and billing"]);
  await clear.click();
  const field = palette(page).getByRole("combobox", { name: "Search" });
  await expect(field).toHaveValue("");
  await expect(field).toBeFocused();
  await expect(palette(page).getByRole("option", { name: "Overview" })).toBeVisible();
});

test("Enter before the results never opens one of an earlier search", async ({ page, member, hydrated }) => {
  expect(member.email).toBeTruthy();
  await page.goto("/dashboard/settings");
  await hydrated(page);
  await open(page, "");
  await expect(palette(page).getByRole("option", { name: "Overview" })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.type("billing");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/dashboard\/(search\?q=billing|billing)$/);
});

test("the palette opens and closes without a change, and says when nothing matches", async ({
  page,
  member,
  hydrated,
}) => {
  expect(member.email).toBeTruthy();
  await page.goto("/dashboard/billing");
  await hydrated(page);
  await open(page, "there is no such thing");
  await expect(palette(page)).toContainText("No results for “there is no such thing”");
  await expect(palette(page).getByRole("status")).toHaveText("0 results");
  await page.keyboard.press("Control+k");
  await expect(palette(page)).toBeHidden();
  await page.keyboard.press("Control+k");
  await expect(palette(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(palette(page)).toBeHidden();
  await expect(page).toHaveURL(/\/dashboard\/billing$/);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the search leads to a page with the results", async ({ page, member }) => {
    const render = await produce(member);
    await page.goto("/dashboard");
    await page.getByRole("button", { name: "Search" }).click();
    await page.keyboard.type(render);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/dashboard\/search\?q=/);
    await page.getByRole("main").getByRole("link", { name: render }).click();
    await expect(page).toHaveURL(new RegExp(`/dashboard/renders/${render}$`));
  });
});

for (const width of [1280, 390]) {
  test.describe(`${width} px`, () => {
    test.use({ viewport: { width, height: 800 } });

    test("the palette and the page of results are accessible", async ({
      page,
      member,
      hydrated,
      expectPresentable,
    }) => {
      await produce(member);
      await page.goto("/dashboard");
      await hydrated(page);
      await page.getByRole("button", { name: "Search" }).click();
      await expect(palette(page).getByRole("option", { name: "Delivery" })).toBeVisible();
      await expectPresentable(page, "palette");
      await page.goto("/dashboard/search?q=key");
      await expect(page.getByRole("main").getByRole("link")).toHaveText(["API keys", "New API key"]);
      await expectPresentable(page, "search");
    });
  });
}
