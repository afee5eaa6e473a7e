import { type Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { PASSWORD, becomeOperator, logIn, makeMember, newAddress, platen, turnOn } from "../people.ts";

const row = (page: Page, of: string) => page.getByRole("row").filter({ hasText: of });
const done = (page: Page) => page.locator(".notice--ok");

/** Finds an account and opens its page. */
async function open(page: Page, email: string): Promise<void> {
  await page.goto("/admin/accounts");
  await page.getByLabel("Name, email, account id, key prefix or render id").fill(email);
  await page.getByRole("button", { name: "Find" }).click();
  await row(page, email).getByRole("link", { name: email }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(email);
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a new operator sets up a second factor before anything else", async ({ page }) => {
      const email = newAddress();
      await platen(["accounts", "create", "--email", email, "--admin"], `${PASSWORD}\n`);
      await page.goto("/log-in?next=/admin");
      await logIn(page, email);
      await expect(page).toHaveURL(/second-factor\?required=yes$/);
      await page.getByRole("button", { name: "Set up authenticator app" }).click();
      await turnOn(page);
      await page.goto("/dashboard");
      await page.getByRole("button", { name: /your menu$/ }).click();
      await page.getByRole("link", { name: "Operator area" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Accounts");
    });

    test("an operator finds an account, suspends it and lets it go on", async ({
      page,
      member: operator,
      browser,
      forgive,
    }) => {
      forgive(/422|404/);
      const member = await makeMember();
      const theirs = await (await browser.newContext()).newPage();
      await theirs.goto("/log-in?next=/dashboard/templates");
      await logIn(theirs, member.email);
      for (const path of ["/admin", "/admin/accounts"]) {
        await theirs.goto(path);
        await expect(theirs.getByRole("heading", { level: 1 })).toHaveText("Page not found");
      }

      await becomeOperator(page, operator);
      await open(page, member.email);
      await page.getByRole("button", { name: "Suspend" }).click();
      const dialog = page.getByRole("dialog", { name: `Suspend ${member.email}` });
      await expect(dialog.getByLabel("Reason")).toBeFocused();
      await dialog.getByLabel("Reason").fill("x".repeat(501));
      await dialog.getByRole("button", { name: "Suspend" }).click();
      await expect(dialog.getByLabel("Reason")).toHaveAccessibleDescription(/1 to 500 characters/);
      await dialog.getByLabel("Reason").fill("Ticket 4410 </script><b>");
      await dialog.getByRole("button", { name: "Suspend" }).click();
      await expect(done(page)).toContainText("Account suspended.");
      await expect(page.locator(".notice--warn")).toContainText("Ticket 4410 </script><b>");
      await expect(row(page, "suspended the account, owner notified")).toBeVisible();

      await theirs.goto("/dashboard/templates");
      await expect(theirs.locator(".notice--warn", { hasText: "This account is suspended" })).toBeVisible();
      await expect(theirs.getByRole("button", { name: "New template" }).first()).toBeDisabled();
      await theirs.goto("/dashboard/settings");
      await expect(theirs.getByRole("button", { name: "Save account name" })).toBeDisabled();
      await expect(theirs.getByRole("button", { name: "Save name" })).toBeEnabled();
      await expect(theirs.getByRole("button", { name: "Create export" })).toBeEnabled();

      await page.getByRole("button", { name: "Restore" }).click();
      await page.getByRole("dialog").getByLabel("Reason").fill("Sorted out");
      await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
      await expect(done(page)).toContainText("Account restored.");
      await theirs.goto("/dashboard/templates");
      await expect(theirs.getByText("This account is suspended")).toHaveCount(0);
    });

    test("an operator gives credits, another plan and other limits", async ({ page, member: operator, forgive }) => {
      forgive(/422/);
      const member = await makeMember();
      await becomeOperator(page, operator);
      await open(page, member.email);
      const figure = page.locator(".figure").filter({ hasText: "Credits" });
      await page.getByRole("button", { name: "Grant credits" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Credits", { exact: true }).fill("lots");
      await dialog.getByLabel("Reason").fill("Outage");
      await dialog.getByRole("button", { name: "Grant credits" }).click();
      await expect(dialog.getByLabel("Credits", { exact: true })).toHaveAccessibleDescription(/1 to 1,000,000,000/);
      await expect(dialog.getByLabel("Reason")).toHaveValue("Outage");
      await dialog.getByLabel("Credits", { exact: true }).fill("1500");
      await dialog.getByLabel("Valid until").selectOption("Used up");
      await dialog.getByRole("button", { name: "Grant credits" }).click();
      await expect(done(page)).toHaveText("Credits granted.");
      await expect(figure).toContainText("of 21,500");

      await page.getByRole("button", { name: "Change plan" }).click();
      await dialog.getByLabel("Plan").selectOption("Starter");
      await dialog.getByLabel("Reason").fill("Asked for it");
      await dialog.getByRole("button", { name: "Change plan" }).click();
      await expect(done(page)).toHaveText("Plan changed.");
      await expect(figure).toContainText("of 3,500");

      await page.getByRole("button", { name: "Change limits" }).click();
      await dialog.getByLabel("Concurrent renders").fill("7");
      await dialog.getByLabel("Reason").fill("A large batch");
      await dialog.getByRole("button", { name: "Change limits" }).click();
      await expect(
        page.getByText(
          "7 concurrent renders, 300 requests per minute, 20 MiB per request, 90 s per synchronous render",
        ),
      ).toBeVisible();
      await expect(row(page, "Asked for it")).toContainText("changed the plan from Growth to Starter");
    });

    test("an operator views an account as its owner, can change nothing and exits", async ({
      page,
      member: operator,
      forgive,
    }) => {
      forgive(/403/);
      const member = await makeMember();
      await becomeOperator(page, operator);
      await open(page, member.email);
      await page.getByRole("button", { name: "View as owner" }).click();
      await page.getByRole("dialog").getByLabel("Reason").fill("Ticket 4410");
      await page.getByRole("dialog").getByRole("button", { name: "View as owner" }).click();
      const banner = page.locator(".impersonation");
      await expect(banner).toContainText(`Viewing ${member.email} as its owner. Read-only,`);
      await page.goto("/dashboard/api-keys");
      await expect(banner).toContainText("minutes left");
      await expect(row(page, "Tests")).toBeVisible();
      await expect(page.getByRole("button", { name: "New key" })).toBeDisabled();
      await page.getByRole("button", { name: "More for Tests" }).click();
      await expect(page.getByRole("button", { name: "Revoke" })).toBeDisabled();
      await page.goto("/dashboard/playground");
      await expect(page.getByRole("button", { name: "Render", exact: true })).toBeDisabled();
      await page.goto("/dashboard/settings");
      await expect(page.getByRole("button", { name: "Save name" })).toBeDisabled();
      await banner.getByRole("button", { name: "Exit" }).click();
      await expect(done(page)).toHaveText("You exited the view as owner.");
      await expect(row(page, "stopped viewing the account")).toBeVisible();
      await page.goto("/dashboard");
      await expect(banner).toHaveCount(0);
    });
  });
}

for (const width of [1280, 390]) {
  test.describe(`at ${width} px`, () => {
    test.use({ viewport: { width, height: 900 } });

    test("the pages about accounts are accessible", async ({ page, member: operator, expectPresentable }) => {
      const member = await makeMember();
      const shown = (name: string) => expectPresentable(page, `admin-${name}`);
      await becomeOperator(page, operator);
      await page.goto("/admin/accounts");
      await shown("accounts");
      if (width < 1024) {
        await page.getByRole("button", { name: "Menu", exact: true }).click();
        await shown("rail");
      }
      await open(page, member.email);
      await shown("account");
      for (const action of ["View as owner", "Grant credits", "Change plan", "Change limits", "Suspend"]) {
        await page.getByRole("button", { name: action }).click();
        await expect(page.getByRole("dialog")).toBeVisible();
        await shown(`account-${action.toLowerCase().replaceAll(" ", "-")}`);
        await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
      }
      await page.getByRole("button", { name: "View as owner" }).click();
      await page.getByRole("dialog").getByLabel("Reason").fill("Ticket 4410");
      await page.getByRole("dialog").getByRole("button", { name: "View as owner" }).click();
      await expect(page.locator(".impersonation")).toBeVisible();
      await shown("look");
    });
  });
}
