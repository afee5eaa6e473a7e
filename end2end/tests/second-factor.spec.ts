import { type Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { PASSWORD, codeOf, forgetConfirmation, linkFor, logIn, logOut, setUpSecondFactor, turnOn } from "../people.ts";

const OTHER_PASSWORD = "another long phrase";

/** The section of the settings page about the second factor. */
const section = (page: Page) => page.locator("section#second-factor");

/** Logs in as far as the second step. */
async function toSecondStep(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.goto("/log-in?next=/dashboard/renders");
  await logIn(page, email, password);
  await expect(page).toHaveURL(/\/log-in\/second-factor\?next=%2Fdashboard%2Frenders$/);
}

/** Completes the second step with a recovery code, which doesn't require waiting for the app's next code. */
async function recover(page: Page, code: string): Promise<void> {
  await page.getByRole("link", { name: "Use a recovery code" }).click();
  await page.getByLabel("Recovery code").fill(code);
  await page.getByRole("button", { name: "Continue" }).click();
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a user sets it up, logs in with it in two steps, and turns it off", async ({ page, member, forgive }) => {
      forgive(/422/);
      const { secret, usedCode, recoveryCodes } = await setUpSecondFactor(page);
      const download = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download" }).click();
      expect((await download).suggestedFilename()).toBe("platen-recovery-codes.txt");
      await page.getByRole("link", { name: "I have saved the codes" }).click();
      await expect(section(page)).toContainText("10 recovery codes left.");
      // The codes are shown only once.
      await page.goto("/dashboard/settings/second-factor");
      await expect(page.getByText("Your second factor is on.")).toBeVisible();
      expect(await page.content()).not.toContain(recoveryCodes[0]);
      await page.goto("/dashboard");
      await logOut(page);

      await toSecondStep(page, member.email);
      await page.goto("/dashboard");
      await expect(page, "the password alone opens nothing").toHaveURL(/\/log-in\?next/);
      await toSecondStep(page, member.email);
      await page.getByLabel("Code").fill(usedCode);
      await page.getByRole("button", { name: "Continue" }).click();
      await expect(page.getByLabel("Code")).toHaveAccessibleDescription(/Each code works once\./);
      await page.getByLabel("Code").fill(codeOf(secret, 1));
      await page.getByRole("button", { name: "Continue" }).click();
      await expect(page).toHaveURL(/\/dashboard\/renders$/);
      await logOut(page);

      await toSecondStep(page, member.email);
      await recover(page, "abcd-efgh-ijkl-mnop");
      await expect(page.getByLabel("Recovery code")).toHaveAccessibleDescription(
        /This code is invalid or has been used\./,
      );
      await page.getByLabel("Recovery code").fill(recoveryCodes[7]!.toUpperCase());
      await page.getByRole("button", { name: "Continue" }).click();
      await expect(page).toHaveURL(/\/dashboard\/renders$/);
      await page.goto("/dashboard/settings");
      await expect(section(page)).toContainText("9 recovery codes left.");
      await page.getByRole("button", { name: "Create new recovery codes" }).click();
      await expect(page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem")).toHaveCount(10);
      await page.goto("/dashboard/settings");
      await page.getByRole("button", { name: "Turn off" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
      await expect(page.getByRole("status")).toContainText("Authenticator app turned off.");
      await logOut(page);
      await logIn(page, member.email);
      await expect(page).toHaveURL(/\/dashboard$/);
    });

    test("a new password does not get round it", async ({ page, member }) => {
      const { recoveryCodes } = await setUpSecondFactor(page);
      await page.goto("/dashboard");
      await logOut(page);
      await page.getByRole("link", { name: "Forgot password" }).click();
      await page.getByLabel("Email").fill(member.email);
      await page.getByRole("button", { name: "Send link" }).click();
      await page.goto(await linkFor(member.email, "Reset your password"));
      await page.getByLabel("New password").fill(OTHER_PASSWORD);
      await page.getByRole("button", { name: "Set password" }).click();
      await expect(page).toHaveURL(/\/log-in\?done=password$/);
      await toSecondStep(page, member.email, OTHER_PASSWORD);
      await recover(page, recoveryCodes[0]!);
      await expect(page).toHaveURL(/\/dashboard\/renders$/);
    });

    test("a device is remembered until its user revokes that", async ({ page, member }) => {
      const { recoveryCodes } = await setUpSecondFactor(page);
      await page.goto("/dashboard");
      await logOut(page);
      await toSecondStep(page, member.email);
      await page.getByRole("link", { name: "Use a recovery code" }).click();
      await page.getByLabel("Recovery code").fill(recoveryCodes[0]!);
      await page.getByLabel("Don’t ask again on this device for 30 days").check();
      await page.getByRole("button", { name: "Continue" }).click();
      await expect(page).toHaveURL(/\/dashboard\/renders$/);
      await logOut(page);
      await logIn(page, member.email);
      await expect(page).toHaveURL(/\/dashboard$/);
      await page.goto("/dashboard/settings");
      const row = section(page).getByRole("row").filter({ hasText: "Chrome on Linux" });
      await row.getByRole("button", { name: /^Ask again/ }).click();
      await expect(page.getByRole("status")).toContainText("asks for the second factor again");
      await expect(row).toHaveCount(0);
      await logOut(page);
      await toSecondStep(page, member.email);
    });

    test("an action continues once the user has confirmed their identity", async ({ page, member, forgive }) => {
      forgive(/403/);
      await page.goto("/dashboard/api-keys");
      await forgetConfirmation(member.email);
      await page.getByRole("button", { name: "New key" }).first().click();
      const dialog = page.getByRole("dialog", { name: "New key" });
      await dialog.getByLabel("Name").fill("Billing & sons");
      await dialog.getByRole("button", { name: "Create key" }).click();
      await expect(page).toHaveURL(/\/dashboard\/confirm\?next=/);
      expect(page.url(), "nothing that was typed is in an address").not.toContain("Billing");
      await page.getByLabel("Your password").fill("not the password");
      await page.getByRole("button", { name: "Confirm" }).click();
      await expect(page.getByRole("alert")).toHaveText("This password is wrong.");
      await page.getByLabel("Your password").fill(PASSWORD);
      await page.getByRole("button", { name: "Confirm" }).click();
      await expect(page).toHaveURL(/\/dashboard\/api-keys\?done=created&new=[0-9a-f-]{36}$/);
      await expect(page.getByRole("row").filter({ hasText: "Billing & sons" })).toBeVisible();

      // With a second factor, its code also confirms.
      const { recoveryCodes } = await setUpSecondFactor(page);
      await forgetConfirmation(member.email);
      await page.goto("/dashboard/settings");
      await page.getByRole("button", { name: "Create new recovery codes" }).click();
      await page.getByRole("link", { name: "Use a code from your authenticator app" }).click();
      await page.getByLabel("Code").fill(recoveryCodes[0]!);
      await page.getByRole("button", { name: "Confirm" }).click();
      await expect(page.getByRole("list", { name: "Recovery codes" })).toBeVisible();
    });

    test("an owner asks everybody for it: first there is a notice, then there is nothing else", async ({
      page,
      member,
      forgive,
    }) => {
      forgive(/422/);
      expect(member.email).toBeTruthy();
      await page.goto("/dashboard/settings");
      const policy = page.locator("section").filter({ hasText: "Required second factor" });
      const requireFrom = async (day: string) => {
        await policy.getByLabel("Required from").fill(day);
        await policy.getByRole("button", { name: "Save" }).click();
      };
      await requireFrom("2026-01-01");
      await expect(policy.getByLabel("Required from")).toHaveAccessibleDescription(/Enter today or a later day/);
      const later = new Date(Date.now() + 14 * 86_400_000).toISOString().slice(0, 10);
      await requireFrom(later);
      await expect(page.getByRole("status")).toContainText("Requirement saved.");
      await expect(policy.getByLabel("Required from")).toHaveValue(later);
      await page.goto("/dashboard/templates");
      await expect(page.getByText("This account requires a second factor from")).toBeVisible();
      await page.goto("/dashboard/settings");
      await requireFrom(new Date().toISOString().slice(0, 10));
      await expect(page).toHaveURL(/\/dashboard\/settings\/second-factor\?required=yes$/);
      await page.goto("/dashboard/templates");
      await expect(page.getByText("This page requires a second factor.")).toBeVisible();
      await page.getByRole("button", { name: "Set up authenticator app" }).click();
      await turnOn(page);
      await page.goto("/dashboard/templates");
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Templates");
    });
  });
}

for (const width of [1280, 390]) {
  test(`the pages of the second factor are accessible at ${width} px`, async ({
    page,
    member,
    expectPresentable,
    forgive,
  }) => {
    forgive(/422/);
    await page.setViewportSize({ width, height: 900 });
    const look = (name: string) => expectPresentable(page, `second-factor-${name}`);
    await page.goto("/dashboard/settings/second-factor");
    await look("off");
    await page.goto("/dashboard/settings/second-factor?required=yes");
    await look("required");
    await page.getByRole("button", { name: "Set up authenticator app" }).click();
    await expect(page.getByRole("button", { name: "Turn on" })).toBeVisible();
    await look("begun");
    await page.getByLabel("Code", { exact: true }).fill("000000");
    await page.getByRole("button", { name: "Turn on" }).click();
    await expect(page.getByRole("alert")).toBeVisible();
    await look("begun-problem");
    const { recoveryCodes } = await setUpSecondFactor(page);
    await look("codes");
    await page.goto("/dashboard/confirm?next=/dashboard");
    await look("confirm");
    await page.goto("/dashboard/confirm?next=/dashboard&with=code");
    await look("confirm-code");
    await page.goto("/dashboard");
    await logOut(page);
    await toSecondStep(page, member.email);
    await look("step");
    await page.getByLabel("Code").fill("000000");
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByRole("alert")).toBeVisible();
    await look("step-problem");
    await page.getByRole("link", { name: "Use a recovery code" }).click();
    await look("recovery");
    await page.getByLabel("Recovery code").fill(recoveryCodes[0]!);
    await page.getByLabel("Don’t ask again on this device for 30 days").check();
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page).toHaveURL(/\/dashboard\/renders$/);
    await page.goto("/dashboard/settings");
    await look("settings");
    await page.getByRole("button", { name: "Turn off" }).click();
    await look("turn-off");
    await page.goto("/log-in/second-factor");
    await look("too-late");
  });
}
