import type { APIRequestContext } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import type { Member } from "../people.ts";

const HEAD = "<!doctype html><html lang=en><title>Plan</title><h1>Plan</h1>";
/** Skips a level of headings, and has a picture without alternative text. */
const FLAWED = `${HEAD}<h3>Costs of a-${"very-".repeat(20)}long-name</h3>
  <img width=40 height=40 src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3Crect width='9' height='9'/%3E%3C/svg%3E">`;

const FIGURE = `<img alt="Costs by month" width=40 height=40 src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3Crect width='9' height='9'/%3E%3C/svg%3E">`;

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
    expectPresentable,
  }) => {
    await page.setViewportSize({ width, height: 900 });
    const created = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/templates`, {
      headers: { authorization: `Bearer ${member.key}` },
      data: { template: { name: "Plan", content: FLAWED } },
    });
    const template = created.headers().location!.split("/").pop();
    const faint = '<p style="color: #999">Hard to read</p>';
    const parts = [`${HEAD}<p>First part${faint}`, { type: "template", content: { template_id: template } }];
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
    await expect(heading.getByRole("link", { name: "Find in the template" })).toHaveAttribute(
      "href",
      new RegExp(`^/dashboard/templates/${template}#words-Costs%20of%20a`),
    );
    const figure = table.getByRole("row", { name: "Figure" });
    await expect(figure).toContainText("Add an alt attribute to the picture");
    await expect(figure.getByRole("link", { name: "Open the template" })).toHaveAttribute(
      "href",
      `/dashboard/templates/${template}`,
    );
    const contrast = section.getByRole("table", { name: "Texts with low contrast" });
    await expect(contrast.getByRole("row", { name: "P “Hard to read”" })).toContainText(
      "The contrast of #999999 on #ffffff is 2.84 to 1; text of this size needs 4.5 to 1.",
    );
    await expect(section).toContainText("2 violations, 1 with low contrast");
    await expect(section).not.toContainText("is accessible");
    expect(await page.evaluate(() => document.documentElement.scrollWidth), "nothing overflows").toBe(width);
    // Pages are drawn when their render is viewed.
    const marks = section.getByRole("group", { name: "Findings on page 2" });
    await expect(async () => {
      await page.reload();
      await expect(marks).toBeVisible({ timeout: 200 });
    }).toPass({ timeout: 20_000 });
    await expect(section.getByRole("group")).toHaveCount(2);
    const first = section.getByRole("group", { name: "Findings on page 1" });
    await expect(first.getByRole("link", { name: "Finding 3: The contrast of" })).toBeVisible();
    const mark = marks.getByRole("link", { name: "The heading skips a level." });
    const number = await mark.textContent();
    await mark.click();
    await expect(page).toHaveURL(new RegExp(`#finding-${number}$`));
    await expect(heading).toHaveId(`finding-${number}`);
    await heading.getByRole("link", { name: "on its page" }).click();
    await expect(page).toHaveURL(new RegExp(`#place-${number}$`));
    // The mark is where the heading is: below the title, and above the picture.
    const [ofHeading, ofFigure, frame] = await Promise.all([
      mark.locator("rect").first().boundingBox(),
      marks.getByRole("link", { name: "The figure has no" }).locator("rect").first().boundingBox(),
      marks.boundingBox(),
    ]);
    expect(ofHeading!.y).toBeGreaterThan(frame!.y);
    expect(ofFigure!.y).toBeGreaterThan(ofHeading!.y);
    expect(ofFigure!.y).toBeLessThan(frame!.y + frame!.height / 3);
    await expectPresentable(page, "render-accessibility");
  });

  test(`the structure of a document is stepped through at ${width} px`, async ({
    page,
    member,
    request,
    expectPresentable,
  }) => {
    await page.setViewportSize({ width, height: 900 });
    const table = "<table><tr><th scope=col>Item<th scope=col>Costs<tr><td>Paper<td>1</table>";
    const id = await queue(request, member, { parts: [`${HEAD}<p lang=de>Erster Teil</p>${table}${FIGURE}`] });
    const link = page.getByRole("link", { name: "Structure and reading order" });
    await expect(async () => {
      await page.goto(`/dashboard/renders/${id}`);
      await expect(link).toBeVisible({ timeout: 200 });
    }).toPass({ timeout: 20_000 });
    await link.click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Structure and reading order");
    await expect(page.getByRole("link", { name: "Next" })).toHaveCount(0);
    await page.getByRole("link", { name: "Start with the first one" }).click();
    const shown = page.locator(".structure__item:target > .structure__line");
    await expect(shown).toContainText("Document");
    // With the keyboard: the number, then the steps.
    const kinds = [];
    for (let step = 0; step < 3; step += 1) {
      await page.getByRole("link", { name: "Next" }).press("Enter");
      await expect(page).toHaveURL(new RegExp(`#element-${step + 2}$`));
      await expect(page.locator(":focus")).toHaveId(`element-${step + 2}`);
      kinds.push(await shown.locator("b").textContent());
    }
    expect(kinds).toContain("H1");
    for (const step of [3, 2]) {
      await page.getByRole("link", { name: "Previous" }).click();
      await expect(page).toHaveURL(new RegExp(`#element-${step}$`));
    }
    const structure = page.locator(".structure");
    await expect(structure).toContainText("“Erster Teil”");
    await expect(structure).toContainText("de");
    await expect(structure).toContainText("alternative text “Costs by month”");
    await expect(shown.getByRole("link", { name: "Open page 1" })).toHaveAttribute("href", /\.pdf#page=1$/);
    await expectPresentable(page, "render-structure");
  });
}

test("a violation leads to the expression of the template that printed it", async ({
  page,
  member,
  request,
  hydrated,
}) => {
  const content = `${HEAD}\n<p>Costs</p>\n<h3>{{ subject }} by month</h3>`;
  const data = { subject: "Costs & <b>income</b>" };
  const created = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/templates`, {
    headers: { authorization: `Bearer ${member.key}` },
    data: { template: { name: "Costs", content, preview_context: data } },
  });
  const template = created.headers().location!.split("/").pop();
  const part = { type: "template", content: { template_id: template, context: data } };
  const id = await queue(request, member, { parts: [part] });
  const link = page.getByRole("link", { name: "Find in the template" });
  await expect(async () => {
    await page.goto(`/dashboard/renders/${id}`);
    await expect(link).toBeVisible({ timeout: 200 });
  }).toPass({ timeout: 20_000 });
  await link.click();
  await hydrated(page);
  const selected = () => page.evaluate(() => getSelection()?.toString());
  await expect.poll(selected, { timeout: 15_000 }).toBe("{{ subject }} by month");
  await page.goto(`/dashboard/templates/${template}#words-Nothing%`);
  await page.reload();
  await expect(page.getByRole("img", { name: "Page 1 of the preview" })).toBeVisible({ timeout: 15_000 });
});

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
  await expect(page.getByRole("row", { name: "H3 “Costs of" })).toContainText("(body > h3)");
  await expect(page.getByRole("row", { name: "Figure" })).toContainText("(body > img)");
});
