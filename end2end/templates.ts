// Templates in tests: they are created and edited in the dashboard.

import { type Page, expect } from "@playwright/test";

/** A page with little content, so that changing one word changes the image. */
export const SHEET = "<style>@page { size: A5 }</style>\n<h1>{{ title }}</h1>\n";

/** Creates a template with the form of the list, and ends in its editor. */
export async function create(page: Page, name: string, beginning: string) {
  await page.goto("/dashboard/templates");
  await page.getByRole("button", { name: "New template" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New template" });
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel(beginning).check();
  await dialog.getByRole("button", { name: "Create template" }).click();
  await expect(page).toHaveURL(/\/dashboard\/templates\/[0-9a-f-]{36}$/);
}

/** Replaces the content of one of the editors once the code editor has taken the place of its text area. */
export async function type(page: Page, pane: "Template" | "Sample data" | "Translations", text: string) {
  const field = page.getByRole("textbox", { name: pane, exact: true });
  await expect(field).toHaveClass(/cm-content/);
  // Not clicked: the middle of a long text can lie outside of its pane.
  await field.focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}
