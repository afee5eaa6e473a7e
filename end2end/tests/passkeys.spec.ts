import { type CDPSession, type Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { codeOf, forgetConfirmation, logIn, logOut, setUpSecondFactor, turnAppOn } from "../people.ts";

/** The section of the settings page about the second factor. */
const section = (page: Page) => page.locator("section#second-factor");
const passkeys = (page: Page) => page.getByRole("table", { name: "Passkeys" });
const usePasskey = (page: Page) => page.getByRole("button", { name: "Use a passkey" });

/** Chromium's virtual authenticator. */
interface Device {
  cdp: CDPSession;
  authenticatorId: string;
}

async function plugIn(page: Page): Promise<Device> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

/** Creates a passkey on the settings page, for a user who has just confirmed the password. */
async function addPasskey(page: Page, name: string): Promise<void> {
  await page.goto("/dashboard/settings");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create passkey" }).click();
}

async function keepCodes(page: Page): Promise<string[]> {
  const items = page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
  await expect(items).toHaveCount(10);
  const codes = await items.allTextContents();
  await page.getByRole("link", { name: "I have saved the codes" }).click();
  return codes;
}

async function toSecondStep(page: Page, email: string): Promise<void> {
  await page.goto("/log-in?next=/dashboard/renders");
  await logIn(page, email);
  await expect(page).toHaveURL(/\/log-in\/second-factor\?next=%2Fdashboard%2Frenders$/);
}

test("a user adds a passkey, logs in and confirms their identity with it, and removes it", async ({
  page,
  member,
  forgive,
}) => {
  forgive(/403/);
  await plugIn(page);
  await addPasskey(page, "Laptop <b>");
  await keepCodes(page);
  const row = passkeys(page).getByRole("row").filter({ hasText: "Laptop <b>" });
  await expect(row).toContainText("Never");
  await expect(section(page)).toContainText("10 recovery codes left.");
  await logOut(page);

  await toSecondStep(page, member.email);
  await expect(page.getByLabel("Code")).toHaveCount(0);
  await usePasskey(page).click();
  await expect(page).toHaveURL(/\/dashboard\/renders$/);
  await page.goto("/dashboard/settings");
  await expect(row).not.toContainText("Never");

  await forgetConfirmation(member.email);
  await row.getByRole("button", { name: "Remove" }).click();
  const dialog = page.getByRole("dialog", { name: "Remove the passkey Laptop <b>" });
  await dialog.getByRole("button", { name: "Remove" }).click();
  await expect(page).toHaveURL(/\/dashboard\/confirm\?next=/);
  await usePasskey(page).click();
  await expect(page.getByRole("status")).toContainText("Passkey removed.");
  await expect(passkeys(page)).toHaveCount(0);
  await logOut(page);
  await logIn(page, member.email);
  await expect(page, "the password is enough again").toHaveURL(/\/dashboard$/);
});

test("a passkey stands beside the app, and what goes wrong is said in words", async ({ page, member, forgive }) => {
  forgive(/403/);
  const { secret } = await setUpSecondFactor(page);
  const { cdp, authenticatorId } = await plugIn(page);
  await page.goto("/dashboard/settings/passkey");
  await page.getByRole("button", { name: "Create passkey" }).click();
  await expect(page.getByLabel("Name"), "it needs a name first").toBeFocused();
  await addPasskey(page, "Phone");
  await expect(page.getByRole("status")).toContainText("Passkey added.");
  // The authenticator refuses a second passkey for the same user.
  await page.goto("/dashboard/settings/passkey");
  await page.getByLabel("Name").fill("Phone again");
  await page.getByLabel("Name").press("Enter");
  await expect(page.getByRole("alert")).toContainText("already has one of your passkeys");
  await page.goto("/dashboard");
  await logOut(page);

  await toSecondStep(page, member.email);
  await page.getByLabel("Don’t ask again on this device for 30 days").check();
  await usePasskey(page).click();
  await expect(page).toHaveURL(/\/dashboard\/renders$/);
  await logOut(page);
  await logIn(page, member.email);
  await expect(page, "this browser is remembered").toHaveURL(/\/dashboard$/);
  await page.goto("/dashboard/settings");
  await page.getByRole("button", { name: /^Ask again/ }).click();
  await logOut(page);

  await toSecondStep(page, member.email);
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await usePasskey(page).click();
  await expect(page.getByRole("alert")).toHaveText("The passkey request was cancelled or timed out. Try again.");
  await page.getByLabel("Code").fill(codeOf(secret, 1));
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page).toHaveURL(/\/dashboard\/renders$/);
});

test.describe("without JavaScript", () => {
  test("the page says what a passkey needs, and a recovery code stands in for it", async ({
    page,
    member,
    browser,
  }) => {
    await plugIn(page);
    await addPasskey(page, "Laptop");
    const [code] = await keepCodes(page);
    const plain = await browser.newContext({ javaScriptEnabled: false, baseURL: process.env.PLATEN_TEST_URL });
    const visit = await plain.newPage();
    await toSecondStep(visit, member.email);
    await expect(visit.getByText("this requires JavaScript")).toBeVisible();
    await expect(usePasskey(visit)).toBeHidden();
    await visit.getByRole("link", { name: "Use a recovery code" }).click();
    await visit.getByLabel("Recovery code").fill(code!);
    await visit.getByRole("button", { name: "Continue" }).click();
    await expect(visit).toHaveURL(/\/dashboard\/renders$/);
    await plain.close();
  });
});

for (const width of [1280, 390]) {
  test(`the pages of passkeys are accessible at ${width} px`, async ({ page, member, expectPresentable, forgive }) => {
    forgive(/403|409|422/);
    await page.setViewportSize({ width, height: 900 });
    const { cdp, authenticatorId } = await plugIn(page);
    const look = (name: string) => expectPresentable(page, `passkeys-${name}`);
    await page.goto("/dashboard/settings/second-factor");
    await look("none");
    await page.goto("/dashboard/settings/passkey");
    await look("new");
    await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
    await page.getByLabel("Name").fill("Laptop");
    await page.getByRole("button", { name: "Create passkey" }).click();
    await expect(page.getByRole("alert")).toContainText("Try again");
    await look("cancelled");
    await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
    await page.getByRole("button", { name: "Create passkey" }).click();
    await keepCodes(page);
    await look("settings");
    await page.getByRole("button", { name: "Remove Laptop" }).click();
    await look("remove");
    await forgetConfirmation(member.email);
    await page.goto("/dashboard/settings/passkey");
    await look("unconfirmed");
    await page.goto("/dashboard/confirm?next=/dashboard");
    await look("confirm");
    await page.goto("/dashboard");
    await logOut(page);
    await toSecondStep(page, member.email);
    await look("step");
    await usePasskey(page).click();
    await expect(page).toHaveURL(/\/dashboard\/renders$/);
    await page.goto("/dashboard/settings");
    await page.getByRole("button", { name: "Set up authenticator app" }).click();
    await turnAppOn(page);
    await expect(page.getByText("Your second factor is on.")).toBeVisible();
    await page.goto("/dashboard/settings");
    await look("settings-with-app");
    await page.goto("/dashboard");
    await logOut(page);
    await toSecondStep(page, member.email);
    await look("step-with-app");
  });
}
