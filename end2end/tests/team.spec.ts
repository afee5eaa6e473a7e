import { type Browser, type Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { PASSWORD, linkFor, logIn, logOut, makeMember, newAddress } from "../people.ts";

const EVIL = `Bob </script><img src=x onerror=alert(1)> "Example"`;
const SUBJECT = "You're invited to a Platen account";

const row = (page: Page, of: string) => page.getByRole("row").filter({ hasText: of });
const done = (page: Page) => page.getByRole("status");

/** Invites people and waits for the confirmation. */
async function invite(page: Page, addresses: string, role = "Member"): Promise<void> {
  await page.goto("/dashboard/team");
  await page.getByRole("button", { name: "Invite members" }).click();
  const dialog = page.getByRole("dialog", { name: /^Invite to/ });
  await dialog.getByLabel("Email").fill(addresses);
  await dialog.getByRole("radio", { name: new RegExp(`^${role}`) }).check();
  await dialog.getByRole("button", { name: "Send invitation" }).click();
  await expect(done(page)).toHaveText("Invitation sent. It expires in seven days.");
}

/** Opens a page in another browser context without a log-in. */
async function elsewhere(browser: Browser, javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser.newContext({ javaScriptEnabled });
  return context.newPage();
}

/** Follows an invitation link as a new user. */
async function join(page: Page, link: string, name: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel("Your name").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign up and join" }).click();
  await expect(done(page)).toHaveText("You have joined this account.");
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("people are invited, come in, are given a role and removed", async ({ page, member, browser }) => {
      expect(member.email).toBeTruthy();
      const [bob, cat] = [newAddress(), newAddress()];
      await page.goto("/dashboard/team");
      await page.getByRole("button", { name: "Invite members" }).click();
      const dialog = page.getByRole("dialog", { name: /^Invite to/ });
      await dialog.getByLabel("Email").fill(`${bob}, nobody`);
      await dialog.getByRole("button", { name: "Send invitation" }).click();
      await expect(dialog.getByLabel("Email")).toHaveAccessibleDescription(/Enter 1 to 20 email addresses/);
      await expect(dialog.getByLabel("Email")).toHaveValue(`${bob}, nobody`);
      await invite(page, `${bob}, ${cat}`);
      await expect(row(page, bob)).toContainText("Pending, 6 days left");

      await row(page, cat).getByRole("button", { name: "Resend" }).click();
      await expect(done(page)).toContainText("Invitation resent.");
      await row(page, cat).getByRole("button", { name: "Withdraw" }).click();
      await expect(done(page)).toContainText("Invitation withdrawn.");
      await expect(row(page, cat)).toHaveCount(0);

      const other = await elsewhere(browser, javaScriptEnabled);
      await join(other, await linkFor(bob, SUBJECT), EVIL);
      await expect(row(other, bob)).toContainText(EVIL);
      await expect(other.getByRole("button", { name: "Invite members" })).toHaveCount(0);
      await expect(other.getByRole("link", { name: "API keys" })).toHaveCount(0);
      await other.goto("/dashboard/api-keys");
      await expect(other.getByRole("alert")).toContainText("Only the owner and admins of this account can do this.");

      await page.goto("/dashboard/team");
      await expect(page.locator("img[src=x]")).toHaveCount(0);
      await row(page, bob)
        .getByLabel(/^Role of/)
        .selectOption("Admin");
      await row(page, bob).getByRole("button", { name: /^Save/ }).click();
      await expect(done(page)).toHaveText("Role changed.");
      await other.goto("/dashboard/team");
      await expect(other.getByRole("button", { name: "Invite members" })).toBeVisible();

      await row(page, bob)
        .getByRole("button", { name: /^More for/ })
        .click();
      await page.getByRole("button", { name: "Remove", exact: true }).click();
      const removal = page.getByRole("dialog", { name: /^Remove/ });
      await removal.getByRole("button", { name: "Remove", exact: true }).click();
      await expect(done(page)).toContainText("Member removed.");
      await expect(row(page, bob)).toHaveCount(0);
      await other.goto("/dashboard/templates");
      await expect(other).toHaveURL(/\/log-in/);
      await other.context().close();
    });

    test("a user with an account joins another, and switches between the two", async ({ page, member, browser }) => {
      expect(member.email).toBeTruthy();
      const guest = await makeMember();
      await invite(page, guest.email, "Admin");
      const link = await linkFor(guest.email, SUBJECT);
      // The invitation is valid only for the invited address.
      await page.goto(link);
      await expect(page.locator("main")).toContainText(`You are logged in as ${member.email}`);
      const other = await elsewhere(browser, javaScriptEnabled);
      await other.goto(link);
      await other.getByRole("link", { name: "Log in to join" }).click();
      await logIn(other, guest.email);
      await other.getByRole("button", { name: "Join" }).click();
      await expect(done(other)).toHaveText("You have joined this account.");
      await other.goto(link);
      await expect(other.getByRole("alert")).toContainText("This link has been used");

      await other.goto("/dashboard");
      await other.locator(".rail__account").click();
      await other.locator("#accounts").getByRole("button", { name: guest.email }).click();
      await expect(other.locator(".rail__account")).toHaveText(guest.email);
      await other.goto("/dashboard/team");
      await expect(row(other, member.email)).toHaveCount(0);
      await other.context().close();
    });

    test("an account is handed over, and its former owner leaves", async ({ page, member, browser }) => {
      const bob = newAddress();
      await invite(page, bob);
      const other = await elsewhere(browser, javaScriptEnabled);
      await join(other, await linkFor(bob, SUBJECT), "Bob");
      await page.goto("/dashboard/team");
      await row(page, bob).getByRole("button", { name: "More for Bob" }).click();
      await page.getByRole("button", { name: "Make owner" }).click();
      const dialog = page.getByRole("dialog", { name: "Make Bob the owner" });
      await dialog.getByRole("button", { name: "Make owner" }).click();
      await expect(done(page)).toContainText("Owner changed.");
      await expect(row(page, member.email)).toContainText("Admin");
      await page.getByRole("button", { name: "Leave" }).click();
      const leave = page.getByRole("dialog", { name: /^Leave/ });
      await leave.getByRole("button", { name: "Leave", exact: true }).click();
      await expect(page).toHaveURL(/\/log-in/);

      await other.goto("/dashboard/team/log");
      await expect(row(other, `transferred the account from ${member.email} to Bob (${bob})`)).toHaveCount(1);
      await other.getByLabel("Topic").selectOption("Members and invitations");
      await other.getByRole("button", { name: "Filter" }).click();
      await expect(other).toHaveURL(/about=member/);
      await expect(row(other, "left the account")).toHaveCount(1);
      await expect(row(other, "transferred the account")).toHaveCount(0);
      const download = other.waitForEvent("download");
      await other.getByRole("link", { name: "Export as CSV" }).click();
      expect((await download).suggestedFilename()).toBe("platen-activity.csv");
      await other.context().close();
    });
  });
}

for (const width of [1280, 390]) {
  test.describe(`at ${width} px`, () => {
    test.use({ viewport: { width, height: 900 } });

    test("an invitation is accessible, logged in or not", async ({ page, member, expectPresentable }) => {
      expect(member.email).toBeTruthy();
      const [bob, guest] = [newAddress(), await makeMember()];
      await invite(page, `${bob}, ${guest.email}`);
      const shown = (name: string) => expectPresentable(page, `team-${name}`);
      await page.goto(await linkFor(guest.email, SUBJECT));
      await expect(page.getByRole("button", { name: "Log out" })).toBeVisible();
      await shown("other-address");
      await page.getByRole("button", { name: "Log out" }).click();
      await expect(page).toHaveURL(/\/log-in$/);
      await page.goto(await linkFor(guest.email, SUBJECT));
      await expect(page.getByRole("link", { name: "Log in to join" })).toBeVisible();
      await shown("log-in-first");
      const link = await linkFor(bob, SUBJECT);
      await page.goto(link);
      await expect(page.getByLabel("Your name")).toBeVisible();
      await shown("invitation");
      await join(page, link, "Bob Lindqvist");
      await shown("member");
    });

    test("the pages of the team are accessible", async ({ page, member, expectPresentable }) => {
      const guest = await makeMember();
      await invite(page, `${newAddress()}, ${guest.email}`);
      const shown = (name: string) => expectPresentable(page, `team-${name}`);
      // The list of accounts is shown to users with more than one.
      const link = await linkFor(guest.email, SUBJECT);
      await logOut(page);
      await page.goto(link);
      await page.getByRole("link", { name: "Log in to join" }).click();
      await logIn(page, guest.email);
      await page.getByRole("button", { name: "Join" }).click();
      if (width < 1024) await page.getByRole("button", { name: "Menu", exact: true }).click();
      await page.locator(".rail__account").click();
      await expect(page.getByText("Your accounts")).toBeVisible();
      await shown("accounts");
      await page.goto("/dashboard/team");
      await page.getByRole("button", { name: "Leave" }).click();
      await shown("leave");
      await page.goto("/dashboard");
      await logOut(page);
      await page.goto("/log-in?next=/dashboard/team");
      await logIn(page, member.email);
      await expect(row(page, guest.email)).toBeVisible();
      await shown("team");
      await page.getByRole("button", { name: "Invite members" }).click();
      await shown("invite");
      await page.goto("/dashboard/team");
      await row(page, guest.email)
        .getByRole("button", { name: /^More for/ })
        .click();
      await page.getByRole("button", { name: "Make owner" }).click();
      await shown("hand-over");
      await page.goto("/dashboard/team/log");
      await shown("log");
    });
  });
}
