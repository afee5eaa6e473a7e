import type { APIRequestContext } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import type { Member } from "../people.ts";

const HEAD = "<!doctype html><html lang=en><title>Plan</title><h1>Plan</h1>";
/** Skips a level of headings, and has a picture without alternative text. */
const FLAWED = `${HEAD}<h3>Costs of a-${"very-".repeat(20)}long-name</h3>
  <img width=40 height=40 src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3Crect width='9' height='9'/%3E%3C/svg%3E">`;

/** Sends a request for an asynchronous render and returns its id. */
async function queue(request: APIRequestContext, member: Member, body: object): Promise<string> {
  const answer = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/renderers/pdf/async`, {
    headers: { authorization: `Bearer ${member.key}` },
    data: body,
  });
  return answer.headers()["x-render-id"]!;
}

for (const width of [1280, 390]) {
  test(`violations are listed with their remedies at ${width} px`, async ({
    page,
    member,
    request,
    expectAccessible,
    picture,
  }) => {
    await page.setViewportSize({ width, height: 900 });
    const created = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/templates`, {
      headers: { authorization: `Bearer ${member.key}` },
      data: { template: { name: "Plan", content: FLAWED } },
    });
    const template = created.headers().location!.split("/").pop();
    const parts = [`${HEAD}<p>First part`, { type: "template", content: { template_id: template } }];
    const id = await queue(request, member, { parts });
    const section = page.locator("#accessibility");
    const table = section.getByRole("table", { name: "Violations of PDF/A-2a and PDF/UA-1" });
    await expect(async () => {
      await page.goto(`/dashboard/renders/${id}`);
      await expect(table).toBeVisible({ timeout: 200 });
    }).toPass({ timeout: 20_000 });
    await expect(section.getByText("PDF/A-2a", { exact: true })).toBeVisible();
    const heading = table.getByRole("row", { name: "H3 “Costs of" });
    await expect(heading).toContainText("ISO 14289-1, 7.4.2-1; Matterhorn 14-003");
    await expect(heading).toContainText("part 2");
    await expect(heading).toContainText("Don't skip levels of headings");
    await expect(heading.getByRole("link", { name: "Open the template" })).toHaveAttribute(
      "href",
      `/dashboard/templates/${template}`,
    );
    await expect(table.getByRole("row", { name: "Figure" })).toContainText("Add an alt attribute to the picture");
    await expect(section).not.toContainText("is accessible");
    expect(await page.evaluate(() => document.documentElement.scrollWidth), "nothing overflows").toBe(width);
    await expectAccessible(page);
    await picture(page, `render-accessibility-${width}`);
  });
}

test("a document that passes all checks says what only a person can judge", async ({ page, member, request }) => {
  const id = await queue(request, member, { parts: [`${HEAD}<p>Text`] });
  await expect(async () => {
    await page.goto(`/dashboard/renders/${id}`);
    await expect(page.locator("#accessibility")).toContainText("Passes all machine checks of PDF/A-2a and PDF/UA-1.", {
      timeout: 200,
    });
  }).toPass({ timeout: 20_000 });
  for (const level of ["PDF/A-2a", "PDF/UA-1"]) {
    await expect(page.locator("#accessibility").getByText(level, { exact: true })).toBeVisible();
  }
  await expect(page.locator("#accessibility")).toContainText("need a person’s judgement");
});

test("a render below its demand fails, and the page says what to change", async ({ page, member, request }) => {
  const id = await queue(request, member, { parts: [FLAWED], conformance: ["pdf/ua-1"] });
  const failure = page.getByRole("alert");
  await expect(async () => {
    await page.goto(`/dashboard/renders/${id}`);
    await expect(page.getByRole("table", { name: "Violations of PDF/A-2a and PDF/UA-1" })).toBeVisible({
      timeout: 200,
    });
  }).toPass({ timeout: 20_000 });
  await expect(failure).toContainText("The document doesn't reach PDF/UA-1");
  await expect(failure).toContainText("The section Accessibility lists what to change.");
  await expect(failure).toContainText("No credits were charged");
});
