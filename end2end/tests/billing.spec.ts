import { type Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { mailsTo } from "../mailbox.ts";
import { PASSWORD, becomeOperator, logIn, newAddress, platen } from "../people.ts";
import { setting } from "../service.ts";
import { failPayment } from "../stripe.ts";

const WIDTHS = [1280, 390];

const section = (page: Page, name: string) =>
  page.locator("section").filter({ has: page.getByRole("heading", { level: 2, name, exact: true }) });

/** Creates an account on the Free plan and logs in to its billing page. Returns the owner's address. */
async function enter(page: Page): Promise<string> {
  const email = newAddress();
  await platen(["accounts", "create", "--email", email], `${PASSWORD}\n`);
  await page.goto("/log-in?next=/dashboard/billing");
  await logIn(page, email);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Usage and billing");
  return email;
}

/** Selects a plan, and stops at the page that explains the change. */
async function choose(page: Page, plan: string): Promise<void> {
  await page.getByRole("button", { name: "Change plan" }).click();
  await page.getByRole("radio", { name: new RegExp(`^${plan}`) }).check();
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(section(page, `Change to ${plan}`)).toBeVisible();
}

/** Waits for the payment reminder that follows Stripe's event. */
async function expectReminder(page: Page, words: RegExp): Promise<void> {
  const reminder = page.locator(".notice--warn", { hasText: "The last payment failed" });
  await expect(async () => {
    await page.reload();
    await expect(reminder).toContainText(words, { timeout: 500 });
  }).toPass({ timeout: 10_000 });
}

/** Returns the latest mail to an address with this subject. */
async function mailTo(email: string, subject: string): Promise<string> {
  let mail: string | undefined;
  await expect(async () => {
    [mail] = await mailsTo(setting("PLATEN_TEST_MAILS"), email, subject);
    expect(mail, subject).toBeDefined();
  }).toPass({ timeout: 10_000 });
  return mail!;
}

async function subscribe(page: Page, plan: string): Promise<void> {
  await choose(page, plan);
  await page.getByRole("button", { name: "Pay at Stripe" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Checkout");
  await page.getByRole("button", { name: "Pay" }).click();
  await expect(page.getByRole("status")).toContainText("Paid.");
}

test("an operator sees what an account pays for", async ({ page, member, browser }) => {
  const theirs = await (await browser.newContext()).newPage();
  const email = await enter(theirs);
  await subscribe(theirs, "Starter");
  await becomeOperator(page, member);
  await page.goto(`/admin/accounts?q=${encodeURIComponent(email)}`);
  await page.getByRole("link", { name: email }).click();
  await expect(section(page, "Account")).toContainText(/cus_\w+.*platen_starter: active, until/);
  await expect(section(page, "Invoices").getByRole("row").nth(1)).toContainText("€ 19");
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a plan is paid for at Stripe, made larger and smaller, and ended", async ({ page }) => {
      await enter(page);
      await expect(section(page, "Plan")).toContainText("0 used, 100 left");
      await subscribe(page, "Starter");
      const plan = section(page, "Plan");
      await expect(plan).toContainText("2,000 credits a month, € 19");
      await expect(plan).toContainText("0 used, 2,000 left");
      await expect(section(page, "Payment")).toContainText("Visa ending 4242");
      await expect(section(page, "Invoices").getByRole("row").nth(1)).toContainText("€ 19");

      await choose(page, "Growth");
      await expect(section(page, "Change to Growth")).toContainText(/€ (70|69\.9\d) due today/);
      await page.getByRole("button", { name: "Change to Growth" }).click();
      await expect(page.getByRole("status")).toHaveText("Plan changed.");
      await expect(plan).toContainText("20,000 credits a month, € 89");

      await choose(page, "Starter");
      await expect(section(page, "Change to Starter")).toContainText("Nothing due today");
      await page.getByRole("button", { name: "Change to Starter" }).click();
      await expect(plan).toContainText("Changes to Starter on");
      await expect(plan).toContainText("0 used, 20,000 left");
      await expect(page.getByRole("button", { name: "Change plan" })).toHaveCount(0);
      await page.getByRole("button", { name: "Keep Growth" }).click();
      await expect(page.getByRole("status")).toHaveText("Plan change cancelled.");

      await choose(page, "Free");
      await page.getByRole("button", { name: "Cancel subscription" }).click();
      await expect(plan).toContainText("The plan then changes to Free. Nothing is deleted.");
      await page.getByRole("button", { name: "Keep subscription" }).click();
      await expect(plan).toContainText("Renews on");
    });

    test("more may be used than the plan brings, as far as the owner says", async ({ page }) => {
      await enter(page);
      await expect(section(page, "Overage")).toHaveCount(0);
      await subscribe(page, "Starter");
      const beyond = section(page, "Overage");
      const limit = beyond.getByRole("textbox", { name: "Overage limit" });
      await expect(beyond).toContainText("€ 10 per 1,000 credits, billed afterwards");
      await limit.fill("2,001");
      await beyond.getByRole("button", { name: "Save limit" }).click();
      await expect(beyond).toContainText("Enter a number of credits from 0 to as many as the plan allows.");
      await expect(limit).toHaveValue("2,001");
      await expect(section(page, "Plan")).toContainText("0 used, 2,000 left");
      await limit.fill("1,500");
      await beyond.getByRole("button", { name: "Save limit" }).click();
      await expect(page.getByRole("status")).toHaveText("Limit saved.");
      await expect(beyond).toContainText("renders continue with up to 1,500 of overage in each period");
      await expect(section(page, "Plan")).toContainText("0 used, 3,500 left, including 1,500 of overage");
      await limit.fill("0");
      await beyond.getByRole("button", { name: "Save limit" }).click();
      await expect(beyond).toContainText("renders are rejected until the next period");
      await expect(section(page, "Plan")).toContainText("0 used, 2,000 left. Without");
    });

    test("credits are bought once, and who turns back at Stripe has bought nothing", async ({ page }) => {
      await enter(page);
      await page.getByRole("button", { name: "Buy 1,000 credits" }).click();
      await page.getByRole("link", { name: "Back" }).click();
      await expect(section(page, "Plan")).toContainText("0 used, 100 left");
      await page.getByRole("button", { name: "Buy 1,000 credits" }).click();
      await page.getByRole("button", { name: "Pay" }).click();
      await expect(section(page, "Plan")).toContainText("0 used, 1,100 left");
      await page.getByRole("button", { name: "Change at Stripe" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Customer portal");
      await page.getByRole("link", { name: "Return" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Usage and billing");
    });
  });
}

test("whose payment fails is told so by mail and on every page, and what becomes of the plan", async ({ page }) => {
  const email = await enter(page);
  await subscribe(page, "Starter");
  await failPayment(email, 1);
  await expectReminder(
    page,
    /Pay the invoice by \d+ \w+ to keep your plan\. Otherwise, the plan changes to Free; nothing is deleted\./,
  );
  const failed = await mailTo(email, "Your payment failed");
  expect(failed).toMatch(/The payment for the Starter plan of the Platen account \S+ failed/);
  await page.goto(/^\S*\/dashboard\/billing$/m.exec(failed)![0]);
  await expect(section(page, "Plan")).toContainText("Starter");
  await expect(section(page, "Plan")).toContainText("An invoice is unpaid. Pay it under Invoices.");
  await expect(section(page, "Plan")).not.toContainText("Renews on");
  await expect(section(page, "Overage")).toHaveCount(0);
  await page.getByRole("link", { name: "Cancel subscription" }).click();
  await expect(section(page, "Change to Free")).toContainText("The subscription ends on");
  await page.getByRole("link", { name: "Keep current plan" }).click();
  await expect(section(page, "Invoices").getByRole("row").nth(1)).toContainText(/Unpaid.*Pay/);
  await failPayment(email, 8);
  await expectReminder(page, /the plan changed to Free\. Pay the invoice to restore your plan\./);
  await expect(section(page, "Plan")).toContainText("Free");
  await expect(section(page, "Plan")).not.toContainText("€ 19");
  expect(await mailTo(email, "Your account was downgraded to the Free plan")).toContain("Nothing is deleted.");
});

for (const width of WIDTHS) {
  test(`the page of billing is accessible at ${width} px`, async ({ page, expectPresentable }) => {
    await page.setViewportSize({ width, height: 900 });
    await enter(page);
    await subscribe(page, "Growth");
    await choose(page, "Scale");
    await expectPresentable(page, "billing-choice");
    await page.getByRole("link", { name: "Keep current plan" }).click();
    await page.getByRole("button", { name: "Change plan" }).click();
    await expectPresentable(page, "billing-plan");
  });

  test(`reminders of a failed payment are accessible at ${width} px`, async ({ page, expectPresentable }) => {
    await page.setViewportSize({ width, height: 900 });
    const email = await enter(page);
    await subscribe(page, "Starter");
    for (const [daysAgo, words] of [
      [1, /Pay the invoice by/],
      [8, /the plan changed to Free\. Pay the invoice/],
    ] as const) {
      await failPayment(email, daysAgo);
      for (const name of ["billing", "overview"]) {
        await page.goto(name === "billing" ? "/dashboard/billing" : "/dashboard");
        await expectReminder(page, words);
        await expectPresentable(page, `payment-due-${daysAgo}-${name}`);
      }
    }
  });
}
