import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { create, type } from "../templates.ts";

// When replacing text, Chromium tries to apply its style inline, which the content security policy correctly blocks.
// Leaving a page aborts the preview's requests.
test.beforeEach(({ forgive }) => {
  forgive(/^Applying inline style violates/);
  forgive(/network error/);
});

const LIST = `<style>@page { size: A5; margin: 10mm 20mm }</style>
<h1>{{ title }}</h1>
{% for line in lines %}
<p>{{ line }} sheets</p>
{% endfor %}
<hr>`;
const DATA = `{ "title": "Stock", "lines": ["Blue", "Red"] }`;

const firstPage = (page: Page) => page.getByRole("img", { name: "Page 1 of the preview" });
const zoom = (page: Page) => page.getByRole("combobox", { name: "Zoom" });
const divider = (page: Page, name: string) => page.getByRole("separator", { name });
const source = (page: Page) => page.getByRole("textbox", { name: "Template", exact: true });
const message = (page: Page) => page.locator(".viewer__message");
const width = async (page: Page) => (await firstPage(page).boundingBox())!.width;

/** Opens the editor of a template with a short list, and waits until its text is known. */
async function openList(page: Page, name: string) {
  await create(page, name, "Blank page");
  await expect(page.locator("html[data-hydrated]")).toBeAttached();
  const isSmall = page.viewportSize()!.width < 1024;
  if (isSmall) await page.getByRole("radio", { name: /^Data/ }).check();
  await type(page, "Sample data", DATA);
  if (isSmall) await page.getByRole("radio", { name: "HTML" }).check();
  await type(page, "Template", LIST);
  if (isSmall) await page.getByRole("radio", { name: "Preview" }).check();
  await expect(page.locator("page-viewer")).toHaveAttribute("texts", /"Red",\[/);
}

/** Clicks the middle of a word of the first page. */
async function clickWord(page: Page, word: string) {
  const texts = JSON.parse((await page.locator("page-viewer").getAttribute("texts"))!);
  const [, , [left, top, wide, high]] = texts.pages.find(([, text]: [number, string]) => text === word);
  const box = (await firstPage(page).boundingBox())!;
  const position = {
    x: ((left + wide / 2) * box.width) / 10_000,
    y: ((top + high / 2) * box.height) / 10_000,
  };
  await firstPage(page).click({ position });
}

test("the PDF of unsaved text opens in a new tab", async ({ page, context, member, hydrated, forgive }) => {
  // Of the refused text, and of the icon that browsers look for beside a PDF.
  forgive(/status of (422|404)/);
  expect(member.email).toContain("@");
  await create(page, "Opened / today", "Blank page");
  await hydrated(page);
  await type(page, "Template", "<p>never saved");
  await expect(page.getByText("Not saved")).toBeVisible();
  const answered = context.waitForEvent("response", (response) => response.url().endsWith("/preview.pdf"));
  const tab = context.waitForEvent("page");
  const button = page.getByRole("button", { name: "Open PDF" });
  await expect(button).toHaveAttribute("title", "Opens the PDF with the stamp PREVIEW");
  await button.click();
  const answer = await answered;
  expect(answer.status()).toBe(200);
  expect(answer.request().postData()).toContain("never+saved");
  const headers = await answer.allHeaders();
  expect(headers["content-type"]).toBe("application/pdf");
  expect(headers["content-disposition"]).toContain('inline; filename="Opened - today.pdf"');
  await expect(page.getByText("Not saved")).toBeVisible();
  await expect(page.getByText("Version 1, published")).toBeVisible();
  await (await tab).close();

  await type(page, "Template", "<p>\n{{ a|nope }}");
  const opened = context.waitForEvent("page");
  await page.getByRole("button", { name: "Open PDF" }).click();
  await expect((await opened).getByText("Line 2 of the HTML.")).toBeVisible();
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("the PDF opens in a new tab", async ({ page, context, member }) => {
    expect(member.email).toContain("@");
    await create(page, "Plain PDF", "Blank page");
    await page.getByRole("textbox", { name: "Template", exact: true }).fill("<p>typed");
    const answered = context.waitForEvent("response", (response) => response.url().endsWith("/preview.pdf"));
    await page.getByRole("button", { name: "Open PDF" }).click();
    const answer = await answered;
    expect(answer.status()).toBe(200);
    expect((await answer.allHeaders())["content-type"]).toBe("application/pdf");
  });
});

test("pages are shown in their true size, larger, smaller and fitted", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Zoomed", "Report");
  await hydrated(page);
  await expect(firstPage(page)).toBeVisible();
  await expect(zoom(page)).toHaveValue("width");
  await zoom(page).selectOption("100 %");
  // 210 mm at 96 pixels per inch.
  await expect(firstPage(page)).toHaveAttribute("data-dots", "96");
  await expect.poll(() => width(page)).toBeGreaterThan(792);
  expect(await width(page)).toBeLessThan(796);
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect(zoom(page)).toHaveValue("125");
  await expect(firstPage(page)).toHaveAttribute("data-dots", "120");
  const [shown, pixels] = await firstPage(page).evaluate((image: HTMLImageElement) => [
    image.getBoundingClientRect().width,
    image.naturalWidth,
  ]);
  expect(shown, "one pixel of the picture is one of the screen").toBeCloseTo(pixels!, 0);

  await source(page).click();
  await page.keyboard.press("Alt+Minus");
  await expect(zoom(page)).toHaveValue("100");
  await page.keyboard.press("Alt+Equal");
  await page.keyboard.press("Alt+Equal");
  await expect(zoom(page)).toHaveValue("150");
  await page.keyboard.press("Alt+0");
  await expect(zoom(page)).toHaveValue("100");

  await zoom(page).selectOption("Fit page");
  const fits = () =>
    page
      .locator(".viewer__page")
      .first()
      .evaluate((sheet) => {
        return sheet.getBoundingClientRect().height <= sheet.closest(".viewer__stage")!.clientHeight;
      });
  await expect.poll(fits).toBe(true);
  await page.reload();
  await hydrated(page);
  await expect(zoom(page)).toHaveValue("page");
  await zoom(page).selectOption("50 %");
  await expect(page.getByRole("button", { name: "Zoom out" })).toBeDisabled();
  await zoom(page).selectOption("200 %");
  await expect(page.getByRole("button", { name: "Zoom in" })).toBeDisabled();
  await expect(firstPage(page)).toHaveAttribute("data-dots", "192");
});

test("panes are resized by keyboard and pointer", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Panes", "Blank page");
  await hydrated(page);
  const columns = divider(page, "Width of the editors");
  await expect(columns).toHaveAttribute("aria-valuenow", "50");
  const html = page.locator(".pane--html");
  const before = (await html.boundingBox())!.width;
  await columns.focus();
  await page.keyboard.press("ArrowRight");
  await expect(columns).toHaveAttribute("aria-valuenow", "52");
  expect((await html.boundingBox())!.width).toBeGreaterThan(before);
  await page.keyboard.press("Home");
  await expect(columns).toHaveAttribute("aria-valuenow", (await columns.getAttribute("aria-valuemin"))!);
  expect((await html.boundingBox())!.width).toBeGreaterThanOrEqual(287);
  await page.keyboard.press("End");
  await expect(columns).toHaveAttribute("aria-valuenow", (await columns.getAttribute("aria-valuemax"))!);
  expect((await page.locator(".pane--preview").boundingBox())!.width).toBeGreaterThanOrEqual(287);
  await columns.dblclick();
  await expect(columns).toHaveAttribute("aria-valuenow", "50");

  const rows = divider(page, "Height of the HTML pane");
  const { x, y, width, height } = (await rows.boundingBox())!;
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2, y + height / 2 - 100, { steps: 4 });
  await page.mouse.up();
  const dragged = Number(await rows.getAttribute("aria-valuenow"));
  expect(dragged).toBeLessThan(60);
  await page.mouse.move(x, y + 100);
  await expect(rows).toHaveAttribute("aria-valuenow", String(dragged));
  await page.reload();
  await hydrated(page);
  await expect(rows).toHaveAttribute("aria-valuenow", String(dragged));
});

test("a click on a page leads to its source, and a line to its place", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await openList(page, "Places");
  const active = source(page).locator(".cm-activeLine");
  const selected = () => page.evaluate(() => getSelection()!.toString());
  await expect(firstPage(page)).toHaveAttribute("title", "Click to show the source");
  await clickWord(page, "Red");
  await expect(source(page)).toBeFocused();
  await expect(active).toHaveText("<p>{{ line }} sheets</p>");
  await expect.poll(selected).toBe("{{ line }}");
  await clickWord(page, "sheets");
  await expect.poll(selected).toBe("sheets");
  await clickWord(page, "Stock");
  await expect(active).toHaveText("<h1>{{ title }}</h1>");
  await expect.poll(selected).toBe("{{ title }}");
  const places = () =>
    page
      .locator(".pane--preview .pane__bar, .viewer__stage, .viewer__status")
      .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().toJSON()));
  const before = await places();
  await firstPage(page).click({ position: { x: 5, y: 5 } });
  await expect(message(page)).toHaveText("No text of the template here");
  expect(await places(), "nothing moves").toEqual(before);

  const marks = page.locator(".viewer__mark");
  await source(page).getByText("sheets").click();
  await page.keyboard.press("Alt+p");
  await expect(message(page)).toHaveText("Line 4: 2 places, first on page 1");
  await expect(marks).toHaveCount(2);
  await expect(marks.first()).toBeInViewport();
  await page.keyboard.press("Control+Home");
  await page.getByRole("button", { name: "Show in preview" }).click();
  // The style sheet prints nothing itself; the heading below it does.
  await expect(message(page)).toHaveText("Line 2: 1 place, first on page 1");
  await source(page).focus();
  await page.keyboard.press("Control+End");
  await page.getByRole("button", { name: "Show in preview" }).click();
  await expect(marks).toHaveCount(2);
});

test("violations of PDF/UA-1 say what to change, and lead to their source", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Levels", "Blank page");
  await hydrated(page);
  await expect(page.getByText("Conforms to PDF/A-2a, PDF/UA-1")).toBeVisible();
  const remark = page.getByRole("listitem").filter({ hasText: "H3 “Costs of paper”" });
  const plan = (heading: string) =>
    `<html lang="en">\n<title>Plan</title>\n<h1>Plan</h1>\n<p>Costs of paper</p>\n<${heading}>Costs of paper</${heading}>`;
  await type(page, "Template", plan("h3"));
  await expect(page.getByText("Accessibility: 1 finding", { exact: true })).toBeVisible();
  await expect(remark).toContainText("(body > h3)");
  await expect(remark).toContainText("Don't skip levels of headings: an h2 follows the h1, an h3 an h2.");
  await expect(page.getByText("Conforms to PDF/A-2a", { exact: true })).toBeVisible();
  await expect(page.locator("page-viewer")).toHaveAttribute("texts", /"paper",\[/);
  await remark.getByRole("button", { name: "page 1" }).click();
  await expect(source(page)).toBeFocused();
  await expect(source(page).locator(".cm-activeLine")).toHaveText("<h3>Costs of paper</h3>");
  await expect.poll(() => page.evaluate(() => getSelection()!.toString())).toBe("Costs of paper");

  await type(page, "Template", plan("h2"));
  await expect(page.getByText("Conforms to PDF/A-2a, PDF/UA-1")).toBeVisible();
  await expect(page.getByText(/^Accessibility:/)).toBeHidden();

  await type(page, "Template", `${plan("h2")}\n<p style="color: #999">Faint`);
  await expect(page.getByText("Accessibility: 1 finding", { exact: true })).toBeVisible();
  const faint = page.getByRole("listitem").filter({ hasText: "P “Faint”" });
  await expect(faint).toContainText("The contrast of #999999 on #ffffff is 2.84 to 1");
  await expect(page.getByText("Conforms to PDF/A-2a, PDF/UA-1")).toBeVisible();
});

test("a click leads to one of the expressions of a line, or to the line", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await openList(page, "Expressions");
  const selected = () => page.evaluate(() => getSelection()!.toString());
  const line = '<p>{{ title }} of {{ lines|last }} <b title="{{ title }}">twice twice</b></p>';
  await type(page, "Template", `<style>@page { size: A5 }</style>\n${line}`);
  await expect(page.locator("page-viewer")).toHaveAttribute("texts", /"twice",\[/);
  await clickWord(page, "Red");
  await expect.poll(selected).toBe("{{ lines|last }}");
  await clickWord(page, "Stock");
  await expect.poll(selected).toBe("{{ title }}");
  // Either of two equal words.
  await clickWord(page, "twice");
  await expect(source(page).locator(".cm-activeLine")).toHaveText(line);
  await expect.poll(selected).toBe("");
});

test("pages are listed, and margins outlined", async ({ page, member, hydrated }) => {
  expect(member.email).toContain("@");
  await create(page, "Listed", "Report");
  await hydrated(page);
  await expect(page.getByText("Page 1 of 3")).toBeVisible();
  const overview = page.getByRole("navigation", { name: "Page overview" });
  await expect(overview).toBeHidden();
  await page.getByRole("button", { name: "Page overview" }).click();
  const thumb = (number: number) => overview.getByRole("button", { name: `Page ${number}` });
  await expect(overview.getByRole("button")).toHaveCount(3);
  await expect(thumb(1)).toHaveAttribute("aria-current", "page");
  await expect(thumb(3).locator("img")).toBeVisible();
  await thumb(3).click();
  await expect(page.getByText("Page 3 of 3")).toBeVisible();
  await expect(thumb(3)).toHaveAttribute("aria-current", "page");
  await page.keyboard.press("ArrowUp");
  await expect(thumb(2)).toBeFocused();
  await expect(page.getByText("Page 2 of 3")).toBeVisible();
  await page.keyboard.press("Home");
  await expect(page.getByText("Page 1 of 3")).toBeVisible();

  await type(page, "Sample data", DATA);
  await type(page, "Template", LIST);
  await expect(overview.getByRole("button")).toHaveCount(1);
  await page.getByRole("button", { name: "Show margins" }).click();
  const margins = async () => {
    const sheet = page.locator(".viewer__page").first();
    return sheet.evaluate((sheet) => {
      const { left, top } = getComputedStyle(sheet, "::before");
      const { height, width } = sheet.getBoundingClientRect();
      return [Math.round((148 * parseFloat(left)) / width), Math.round((210 * parseFloat(top)) / height)];
    });
  };
  await expect.poll(margins).toEqual([20, 10]);
  await page.reload();
  await hydrated(page);
  await expect(overview).toBeVisible();
  await expect(page.getByRole("button", { name: "Show margins" })).toHaveAttribute("aria-pressed", "true");
});

test("a template is tidied without changing its pages", async ({ page, member, hydrated, forgive }) => {
  forgive(/status of 422/);
  expect(member.email).toContain("@");
  await create(page, "Tidy", "Blank page");
  await hydrated(page);
  await type(page, "Sample data", DATA);
  const lines = [
    "<style>@page { size: A5 }</style>",
    "<ul> {% for line in lines %}",
    "<li>{{ line }}",
    "  and <b>more</b>",
    "{% endfor %} </ul>",
    "<pre>",
    "   kept",
    "</pre>",
  ];
  await type(page, "Template", lines.join("\n"));
  const shown = source(page).locator(".cm-line");
  const viewer = page.locator("page-viewer");
  await expect(viewer).toHaveAttribute("texts", /kept/);
  // Fitted pages may be drawn once more, in another size.
  await zoom(page).selectOption("100 %");
  await expect(firstPage(page)).toHaveAttribute("data-dots", "96");
  const before = await firstPage(page).getAttribute("src");
  const texts = await viewer.getAttribute("texts");
  await source(page).focus();
  await page.keyboard.press("Shift+Alt+f");
  await expect(shown).toHaveText([
    "<style>@page { size: A5 }</style>",
    "<ul>",
    "  {% for line in lines %}",
    "    <li>{{ line }}",
    "      and <b>more</b>",
    "  {% endfor %}",
    "</ul>",
    "<pre>",
    "   kept",
    "</pre>",
  ]);
  // The lines of the texts have changed, and the texts come after the pages.
  await expect(viewer).not.toHaveAttribute("texts", texts!);
  await expect(firstPage(page)).toHaveAttribute("src", before!);
  await page.getByRole("button", { name: "Tidy" }).click();
  await expect(page.getByRole("alert")).toHaveText("This template is tidy already.");
  await page.keyboard.press("Control+z");
  await expect(shown).toHaveText(lines);

  await type(page, "Template", "<p>\n{% if a %}\n<p>");
  await page.getByRole("button", { name: "Tidy" }).click();
  await expect(page.getByRole("alert")).toHaveText("Not tidied, because of line 2. {% if %} is not closed.");
  await expect(source(page).locator(".cm-activeLine")).toHaveText("{% if a %}");
  await expect(source(page)).toBeFocused();
});

test.describe("on a small screen", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("source and page lead to each other, and panes are not resized", async ({ page, member }) => {
    expect(member.email).toContain("@");
    await openList(page, "Small places");
    await expect(page.getByRole("separator")).toHaveCount(0);
    await clickWord(page, "Red");
    await expect(source(page)).toBeFocused();
    await page.keyboard.press("Alt+p");
    await expect(page.locator(".viewer__mark").first()).toBeInViewport();
    await page.getByRole("button", { name: "Page overview" }).click();
    await expect(page.getByRole("navigation", { name: "Page overview" })).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  });
});

for (const theme of ["light", "dark"] as const) {
  for (const width of [1280, 390]) {
    test.describe(`${theme}, ${width} px`, () => {
      test.use({ colorScheme: theme, viewport: { width, height: 900 } });

      test("everybody can use the preview", async ({ page, member, expectAccessible, picture }) => {
        expect(member.email).toContain("@");
        await openList(page, "Accessible preview");
        await page.getByRole("button", { name: "Page overview" }).click();
        await page.getByRole("button", { name: "Show margins" }).click();
        await expect(page.getByText("Rendered in")).toBeVisible();
        await picture(page, `editor-preview-${width}-${theme}`);
        await expectAccessible(page);
        await clickWord(page, "Red");
        await page.keyboard.press("Alt+p");
        await expect(page.locator(".viewer__mark")).toHaveCount(2);
        await picture(page, `editor-marks-${width}-${theme}`);
        await expectAccessible(page);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      });
    });
  }
}
