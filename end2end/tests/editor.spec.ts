import type { Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";

const DATA = `{
  "customer": { "name": "Ann", "address": { "city": "Lund" } },
  "lines": [{ "text": "Pens", "price": 12.5 }, { "text": "Ink", "discount": 2 }],
  "total": 14
}`;

// When replacing text, Chromium tries to apply its style inline, which the content security policy correctly blocks.
// Leaving a page aborts the preview's requests.
test.beforeEach(({ forgive }) => {
  forgive(/^Applying inline style violates/);
  forgive(/network error/);
});

const editor = (page: Page, pane: "Template" | "Sample data" = "Template") =>
  page.getByRole("textbox", { name: pane, exact: true });
const lines = (page: Page) => editor(page).locator(".cm-line").allTextContents();
const completions = (page: Page) => page.getByRole("listbox", { name: "Completions" });
const chosen = (page: Page) => completions(page).getByRole("option", { selected: true });

/** Opens the editor of a new template, with sample data. */
async function open(page: Page, name: string) {
  await page.goto("/dashboard/templates");
  await page.getByRole("button", { name: "New template" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New template" });
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Blank page").check();
  await dialog.getByRole("button", { name: "Create template" }).click();
  await expect(page).toHaveURL(/\/dashboard\/templates\/[0-9a-f-]{36}$/);
  await expect(page.locator("html[data-hydrated]")).toBeAttached();
  if (page.viewportSize()!.width < 1024) await page.getByRole("radio", { name: /^Data/ }).check();
  await replace(page, "Sample data", DATA);
  if (page.viewportSize()!.width < 1024) await page.getByRole("radio", { name: "HTML" }).check();
}

async function replace(page: Page, pane: "Template" | "Sample data", text: string) {
  await expect(editor(page, pane)).toHaveClass(/cm-content/);
  // A click would wait for completions that are shown above the text.
  await editor(page, pane).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

/** Types at the end of a template. */
async function type(page: Page, before: string, typed: string) {
  await replace(page, "Template", before);
  await page.keyboard.type(typed);
}

/** Accepts the selected completion. The editor ignores Tab directly after the list has appeared. */
async function accept(page: Page, label: string) {
  await expect(chosen(page)).toContainText(label);
  await expect(async () => {
    if (await completions(page).isVisible()) await page.keyboard.press("Tab");
    await expect(completions(page)).toBeHidden({ timeout: 1_000 });
  }).toPass();
}

test("paths of the sample data are completed, and those of loop variables", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "Paths");
  await type(page, "<p>", "{{ cu");
  await expect(chosen(page)).toHaveText("customer{ name, address }");
  await expect(editor(page)).toHaveAttribute("aria-activedescendant", /./);
  await accept(page, "customer");
  await page.keyboard.type(".address.");
  await expect(chosen(page)).toHaveText('city"Lund"');
  await accept(page, "city");
  await expect(editor(page)).toHaveText("<p>{{ customer.address.city");

  await type(page, "{% for line in lines|sort(attribute='price') %}", "{{ line.");
  await expect(completions(page).getByRole("option")).toHaveText(["discount2", "price12.5", 'text"Pens"']);
  await page.keyboard.type("pr");
  await accept(page, "price");
  await expect(editor(page)).toContainText("{{ line.price");
  await type(page, "{% for line in lines %}", "{{ loop.fi");
  await expect(page.locator(".cm-completionInfo")).toContainText("Whether this is the first item.");
  await type(page, "{% set sum = total %}", "{{ su");
  await expect(chosen(page)).toHaveText("sum14");
  await type(page, "{% for line in lines %}{% endfor %}", "{{ li");
  await expect(chosen(page)).toHaveText("lineslist of 2 items");
});

test("the last valid data counts while data is being typed", async ({ page, member, forgive }) => {
  forgive(/status of 422/);
  expect(member.email).toContain("@");
  await open(page, "Lenient");
  await type(page, "", "{{ to");
  await accept(page, "total");
  await replace(page, "Sample data", '{ "totals": ');
  await type(page, "", "{{ to");
  await expect(chosen(page)).toHaveText("total14");
});

test("filters are completed with their signatures, and tests", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "Filters");
  await type(page, "", "{{ total|cur");
  await expect(chosen(page)).toHaveText("currency(code, locale=…, display='symbol')");
  const documentation = page.locator(".cm-completionInfo");
  await expect(documentation).toContainText("Formats an amount of money.");
  await expect(documentation).toContainText("→ 1.234,50 €");
  await accept(page, "currency");
  await expect(editor(page)).toHaveText("{{ total|currency");
  await type(page, "", "{% if total is divi");
  await expect(chosen(page)).toHaveText("divisibleby(number)");
});

test("tags are completed, the end of the open block first", async ({ page, member, forgive }) => {
  forgive(/status of 422/);
  expect(member.email).toContain("@");
  await open(page, "Tags");
  await type(page, "{% for line in lines %}\n{% if line.price %}", "{% e");
  await expect(completions(page).getByRole("option")).toContainText(["endif", "elif", "else", "extends"]);
  await expect(page.locator(".cm-completionInfo")).toHaveText("Closes {% if line.price %}");
  await accept(page, "endif");
  await page.keyboard.type("\n{% e");
  await accept(page, "endfor");
  await expect(editor(page).locator(".cm-line").last()).toHaveText("{% endfor %}");
  await type(page, "", "{% unkn");
  await expect(completions(page)).toBeHidden();
});

test("the colours after a tag don't depend on its content", async ({ page, member, forgive }) => {
  forgive(/status of 422/);
  expect(member.email).toContain("@");
  await open(page, "Colours");
  const colours = () =>
    Promise.all(
      ["class", '"sum"', "total"].map((word) =>
        editor(page)
          .locator(".cm-line")
          .last()
          .getByText(word, { exact: true })
          .evaluate((element) => getComputedStyle(element).color),
      ),
    );
  const rest = '<p class="sum">{{ total }}</p>';
  await replace(page, "Template", rest);
  await expect.poll(async () => new Set(await colours()).size).toBe(3);
  const plain = await colours();
  for (const tag of [
    "{% set sums.all = lines|length < 3 %}",
    "{{ -total }}",
    "{{ lines[1:2] }}",
    "{% if total not in lines %}<b>{% endif %}",
    "{{ 'a' 'b' < }}",
    "{% set a",
  ]) {
    await replace(page, "Template", `${tag}\n${rest}`);
    await expect.poll(colours, tag).toEqual(plain);
  }
});

test("typing a closing tag that was inserted leaves one", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "Closing tags");
  await type(page, "", "<p>a <b>x");
  await expect(editor(page)).toHaveText("<p>a <b>x</b></p>");
  await page.keyboard.type("</b> c</p>!");
  await expect(editor(page)).toHaveText("<p>a <b>x</b> c</p>!");
  await type(page, "", "<b>x<br><i>");
  await expect(editor(page)).toHaveText("<b>x<br><i></i></b>");
  await type(page, "", '<a href="{{ total > 1 }}"><b></b></a>');
  await expect(editor(page)).toHaveText('<a href="{{ total > 1 }}"><b></b></a>');
});

test("closing tags are inserted where markup is written", async ({ page, member, forgive }) => {
  forgive(/status of 422/);
  expect(member.email).toContain("@");
  await open(page, "Closing tags");
  for (const [written, key, expected] of [
    ["{% if a > b %}<i>x", "</", "{% if a > b %}<i>x</i>"],
    ["<a {{ b > c }} title='>'", ">", "<a {{ b > c }} title='>'></a>"],
    ["<i title='<b'", ">", "<i title='<b'></i>"],
    ["<br", ">", "<br>"],
    ["<p>{{ a <b", ">", "<p>{{ a <b></p>"],
    ["<!-- <b", ">", "<!-- <b>"],
    ["<script>a <b", ">", "<script>a <b></script>"],
    ["<style", ">", "<style></style>"],
  ] as const) {
    await type(page, "", written);
    await page.keyboard.type(key);
    await expect(editor(page), written).toHaveText(expected);
  }
  // However slow the machine.
  const browser = await page.context().newCDPSession(page);
  const slowDown = (rate: number) => browser.send("Emulation.setCPUThrottlingRate", { rate });
  await type(page, "", "<B");
  await slowDown(30);
  await page.keyboard.type(">");
  await slowDown(1);
  await expect(editor(page)).toHaveText("<B></B>");
});

test("a new line is indented like the one before, and deeper between tags", async ({ page, member, forgive }) => {
  forgive(/status of 422/);
  expect(member.email).toContain("@");
  await open(page, "Indented");
  const press = async (key: string, times: number) => {
    for (let time = 0; time < times; time += 1) await page.keyboard.press(key);
  };
  // As in a branch: the element isn't open here.
  await replace(page, "Template", "<div>\n<div>\n  <p>x</p>");
  await page.keyboard.press("Enter");
  expect(await lines(page)).toEqual(["<div>", "<div>", "  <p>x</p>", "  "]);
  for (const [start, end] of [
    ["<div>", "</div>"],
    ["{% for line in lines %}", "{% endfor %}"],
  ] as const) {
    await replace(page, "Template", `  ${start}${end}`);
    await press("ArrowLeft", end.length);
    await page.keyboard.press("Enter");
    expect(await lines(page)).toEqual([`  ${start}`, "    ", `  ${end}`]);
  }
  await type(page, "", "<ul>\n{% for line in lines %}\n<li>x</li>\n{% endfor %}");
  expect(await lines(page)).toEqual(["<ul>", "  {% for line in lines %}", "    <li>x</li>", "  {% endfor %}", "</ul>"]);
});

test("HTML and CSS are completed outside of the braces", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "HTML");
  await type(page, "{{ total }}", "<sect");
  await expect(chosen(page)).toHaveText("section");
  await type(page, "{{ total }}<style>p { ", "page-break-a");
  await expect(completions(page).getByRole("option").first()).toContainText("page-break-after");
  await type(page, "<p>", "text");
  await expect(completions(page)).toBeHidden();
});

test("filters, tags and names are documented under the pointer", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "Hover");
  await replace(page, "Template", "{% for line in lines %}{{ line.price|number(2) }}{% endfor %}");
  const documentation = page.locator(".cm-tooltip-hover");
  for (const [word, text] of [
    ["number", "Formats a number"],
    ["price", "12.5"],
    ["lines", "list of 2 items"],
    ["for", "Repeats its content for each item"],
  ]) {
    await editor(page).getByText(word!, { exact: true }).first().hover();
    await expect(documentation).toContainText(text!);
  }
  await page.keyboard.type("!");
  await expect(documentation).toHaveCount(0);
});

test("a misspelled name is corrected at once", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "Misspelled");
  await replace(page, "Template", "<p>{{ customer.adress.city }}\n{% if totl %}x{% endif %}");
  const tooltip = page.locator(".cm-tooltip-lint");
  await expect(page.getByText("customer.adress.city is undefined")).toBeVisible();
  await editor(page).locator(".cm-lintRange-warning").first().hover();
  await expect(tooltip).toContainText("customer.adress.city is undefined and prints empty. Did you mean “address”?");
  await tooltip.getByRole("button", { name: "Change to address" }).click();
  await expect(editor(page)).toContainText("{{ customer.address.city }}");

  // The service doesn't report what is only tested.
  await editor(page).locator(".cm-lintRange-info").hover();
  await expect(tooltip).toContainText("totl isn’t in the sample data. Did you mean “total”?");
  await tooltip.getByRole("button", { name: "Change to total" }).click();
  await expect(editor(page)).toBeFocused();
  await expect(editor(page)).toContainText("{% if total %}");
  await expect(editor(page).locator(".cm-lintRange-info")).toHaveCount(0);

  await replace(page, "Template", "<p>{{ customer.name|uppr }}");
  await editor(page).locator(".cm-lintRange-error", { hasText: "uppr" }).hover();
  await expect(tooltip).toContainText("Filter uppr is unknown. Did you mean “upper”?");
  await tooltip.getByRole("button", { name: "Change to upper" }).click();
  await expect(editor(page)).toContainText("{{ customer.name|upper }}");
});

test("text is found and replaced", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "Find");
  await replace(page, "Template", "<p>one two\n<p>One two three\n<p>two");
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+f");
  const bar = page.getByRole("search", { name: "Find in Template" });
  await expect(bar.getByRole("textbox", { name: "Find" })).toBeFocused();
  await page.keyboard.type("one");
  await expect(bar.getByRole("status")).toHaveText("2");
  await page.keyboard.press("Enter");
  await expect(bar.getByRole("status")).toHaveText("1 of 2");
  await bar.getByRole("button", { name: "Next match" }).click();
  await expect(bar.getByRole("status")).toHaveText("2 of 2");
  await bar.getByRole("button", { name: "Match case" }).click();
  await expect(bar.getByRole("button", { name: "Match case" })).toHaveAttribute("aria-pressed", "true");
  await expect(bar.getByRole("status")).toHaveText("1");
  await bar.getByRole("textbox", { name: "Find" }).fill("two");
  await bar.getByRole("textbox", { name: "Replace with" }).fill("2");
  await bar.getByRole("button", { name: "Replace all" }).click();
  await expect(editor(page)).toHaveText("<p>one 2<p>One 2 three<p>2");
  await expect(bar.getByRole("status")).toHaveText("No matches");
  await bar.getByRole("textbox", { name: "Find" }).fill("(");
  await bar.getByRole("button", { name: "Regular expression" }).click();
  await expect(bar.getByRole("status")).toHaveText("Invalid");
  await page.keyboard.press("Escape");
  await expect(bar).toBeHidden();
  await expect(editor(page)).toBeFocused();
  await expect(page).toHaveURL(/\/dashboard\/templates\/[0-9a-f-]{36}$/);
});

test("going to a line doesn't save the template", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "Line");
  await replace(page, "Template", "<p>one\n<p>two\n<p>three");
  await page.keyboard.press("Control+Alt+g");
  await page.getByRole("textbox", { name: "Go to line" }).fill("2");
  await page.getByRole("button", { name: "Go", exact: true }).click();
  await expect(editor(page)).toBeFocused();
  await page.keyboard.insertText("2");
  await expect(editor(page).locator(".cm-line").nth(1)).toHaveText("2<p>two");
  await expect(page.getByText("Not saved")).toBeVisible();
  await expect(page.getByText("Version 1, published")).toBeVisible();
});

test("wrapped lines stay wrapped after a reload", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "Wrapped");
  const wrap = page.getByRole("group", { name: "Template: tools" }).getByRole("button", { name: "Wrap lines" });
  await expect(wrap).toHaveAttribute("aria-pressed", "false");
  await wrap.click();
  await expect(editor(page)).toHaveClass(/cm-lineWrapping/);
  await expect(editor(page, "Sample data")).toHaveClass(/cm-lineWrapping/);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Version 2, draft. Published: 1")).toBeVisible();
  await page.reload();
  await expect(editor(page)).toHaveClass(/cm-lineWrapping/);
  await expect(wrap).toHaveAttribute("aria-pressed", "true");
  await editor(page).click();
  await page.keyboard.press("Alt+z");
  await expect(editor(page)).not.toHaveClass(/cm-lineWrapping/);
});

test("an error is named where the template would be saved or published", async ({ page, member, forgive }) => {
  forgive(/status of 422/);
  expect(member.email).toContain("@");
  await open(page, "Broken");
  await replace(page, "Template", "<p>One\n{% for line in lines %}\n<p>Two");
  const problem = "Line 2: {% for %} is not closed: {% endfor %} is missing.";
  await expect(page.locator(".viewer__status")).toContainText("Not rendered");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Publish this template" });
  await expect(dialog).toContainText(`The preview fails. ${problem}`);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  // As with Caps Lock.
  await page.keyboard.press("Control+S");
  const refusal = page.getByRole("alert").filter({ hasText: "Not saved" });
  await expect(refusal).toContainText(`Not saved. ${problem}`);
  await replace(page, "Template", "<p>Two");
  await expect(refusal).toHaveCount(0);
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
});

test("the paper of the preview is given as members of a request", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "Paper");
  await page.getByRole("button", { name: "A4", exact: true }).click();
  await page.getByText("Landscape").click();
  await page.getByLabel("Top, mm").fill("12,5");
  const members = page.locator(".viewer__request code");
  await expect(members).toContainText('"orientation":"landscape"');
  const options = JSON.parse(`{${await members.textContent()}}`);
  expect(options.size).toBe("a4");
  expect(options.margin).toEqual({ top: 12.5, right: 0, bottom: 0, left: 0, unit: "mm" });
});

test("the icons of the narrow navigation have tooltips, by keyboard too", async ({ page, member }) => {
  expect(member.email).toContain("@");
  await open(page, "Tooltips");
  const link = page.getByRole("navigation").getByRole("link", { name: "Renders" });
  const label = link.getByText("Renders");
  const width = async () => (await label.boundingBox())!.width;
  expect(await width()).toBeLessThan(2);
  await link.hover();
  expect(await width()).toBeGreaterThan(40);
  await page.mouse.move(600, 400);
  expect(await width()).toBeLessThan(2);
  await page.keyboard.press("Tab");
  await link.focus();
  expect(await width()).toBeGreaterThan(40);
});

test.describe("on a small screen", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("errors are above the pages, and counted on the pane’s tab", async ({ page, member }) => {
    expect(member.email).toContain("@");
    await open(page, "Small");
    await replace(page, "Template", "<p>{{ customer.nme }}</p>{{ totl }}");
    await expect(page.getByText("2 errors or warnings")).toBeAttached();
    await page.getByRole("radio", { name: "Preview" }).check();
    const warnings = page.locator(".warnings").first();
    await expect(warnings).toBeInViewport();
    const [above, pages] = await Promise.all([warnings.boundingBox(), page.locator(".viewer__stage").boundingBox()]);
    expect(above!.y + above!.height).toBeLessThanOrEqual(pages!.y);
  });
});

test("the shortcuts of the editor are listed", async ({ page, member, expectAccessible }) => {
  expect(member.email).toContain("@");
  await open(page, "Shortcuts");
  await editor(page).click();
  await page.keyboard.press("F1");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(sheet).toContainText("Find and replace");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(sheet).toHaveCount(0);
  await expect(editor(page)).toBeFocused();
  await page.getByRole("group", { name: "Sample data: tools" }).getByRole("button", { name: "shortcuts" }).click();
  await sheet.getByRole("button", { name: "Close" }).click();
  await expect(sheet).toHaveCount(0);
});

for (const theme of ["light", "dark"] as const) {
  for (const width of [1280, 390]) {
    test.describe(`${theme}, ${width} px`, () => {
      test.use({ colorScheme: theme, viewport: { width, height: 900 } });

      test("everybody can complete and find", async ({ page, member, expectAccessible, picture }) => {
        expect(member.email).toContain("@");
        await open(page, "Accessible");
        await type(page, "<h1>{{ customer.nme }}</h1>\n{% for line in lines %}\n", "{{ line.price|n");
        await expect(chosen(page)).toContainText("number");
        await expect(page.locator(".cm-completionInfo")).toBeVisible();
        // Axe fails if the preview's warnings change while it runs.
        const status = page.locator(".viewer__status");
        await expect(status).toContainText("Not rendered");
        await picture(page, `editor-completion-${width}-${theme}`);
        await expectAccessible(page);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        await page.keyboard.press("Escape");
        await page.keyboard.type("umber(2) }}\n{% endfor %}");
        await page.keyboard.press("Escape");
        await page.keyboard.press("Control+f");
        await page.keyboard.type("line");
        await expect(page.getByRole("status").filter({ hasText: /^3$/ })).toBeVisible();
        await expect(status).toContainText("Rendered in");
        await picture(page, `editor-find-${width}-${theme}`);
        await expectAccessible(page);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        await editor(page).locator(".cm-lintRange-warning").first().hover();
        await expect(page.locator(".cm-tooltip-lint")).toBeVisible();
        await picture(page, `editor-suggestion-${width}-${theme}`);
        await expectAccessible(page);
        await page.mouse.move(0, 0);
        await page.keyboard.press("F1");
        await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
        await picture(page, `editor-shortcuts-${width}-${theme}`);
        await expectAccessible(page);
      });
    });
  }
}

for (const [platform, save, find, wrap] of [
  ["Linux x86_64", "Ctrl+S", "Find (Ctrl+F)", "Wrap lines (Alt+Z)"],
  ["MacIntel", "⌘S", "Find (⌘F)", "Wrap lines (⌥Z)"],
] as const) {
  test(`buttons name the keys of the keyboard: ${platform}`, async ({ page, member }) => {
    expect(member.key).toBeTruthy();
    await page.addInitScript((platform) => {
      Object.defineProperty(navigator, "platform", { get: () => platform });
    }, platform);
    await open(page, "Keys");
    await expect(page.getByRole("button", { name: "Save", exact: true })).toHaveAttribute("title", save);
    const tools = page.getByRole("group", { name: "Template: tools" });
    await expect(tools.getByTitle(find, { exact: true })).toBeVisible();
    await expect(tools.getByTitle(wrap, { exact: true })).toBeVisible();
  });
}
