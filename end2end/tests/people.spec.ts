import { expect, test } from "../fixtures.ts";
import { PASSWORD, linkFor, logIn, logOut, newAddress, signUp } from "../people.ts";

const OTHER_PASSWORD = "another long phrase";

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a user signs up, logs out and in, and chooses a new password", async ({ page, forgive }) => {
      forgive(/403/);
      const address = newAddress();
      await signUp(page, address);
      const who = page.getByRole("button", { name: "Ann <b>Example</b>, your menu" });
      await expect(who).toBeVisible();
      await page.goto("/");
      await page.getByRole("link", { name: "Dashboard", exact: true }).click();
      await expect(who).toBeVisible();
      await logOut(page);

      await page.goto("/dashboard?from=mail");
      await expect(page).toHaveURL(/\/log-in\?next=%2Fdashboard%3Ffrom%3Dmail$/);
      await logIn(page, address, "not the password");
      await expect(page.getByRole("alert")).toContainText("Email or password is wrong.");
      await expect(page.getByLabel("Email")).toHaveValue(address);
      await logIn(page, address, PASSWORD);
      await expect(page).toHaveURL(/\/dashboard\?from=mail$/);
      await logOut(page);

      await page.getByRole("link", { name: "Forgot password" }).click();
      await page.getByLabel("Email").fill(address);
      await page.getByRole("button", { name: "Send link" }).click();
      await expect(page.getByText(`If an account uses ${address}, we sent it a link.`)).toBeVisible();
      await page.goto(await linkFor(address, "Reset your password"));
      await page.getByLabel("New password").fill(OTHER_PASSWORD);
      await page.getByRole("button", { name: "Set password" }).click();
      await expect(page).toHaveURL(/\/log-in\?done=password$/);
      await expect(page.getByRole("status")).toContainText("Password changed");
      await logIn(page, address, OTHER_PASSWORD);
      await expect(who).toBeVisible();
    });

    test("the address of the mail is named after a sign-up, whether or not it has an account", async ({ page }) => {
      const address = newAddress();
      const expectSent = async () => {
        await expect(page.getByText(`We sent a link to ${address}.`)).toBeVisible();
        await expect(page.getByRole("textbox")).toHaveCount(0);
      };
      for (let times = 0; times < 2; times += 1) {
        await page.goto("/sign-up");
        await page.getByLabel("Your name").fill("Ann");
        await page.getByLabel("Work email").fill(address);
        await page.getByLabel("Account name").fill("Example");
        await page.getByLabel("Password").fill(PASSWORD);
        await page.getByRole("button", { name: "Sign up" }).click();
        await expectSent();
        await page.reload();
        await expectSent();
        await page.getByRole("button", { name: "Send again" }).click();
        await expect(page.getByText("Email sent again.")).toBeVisible();
        await expectSent();
        if (times > 0) break;
        await page.goto(await linkFor(address, "Confirm your email address"));
        await page.getByLabel("Password").fill(PASSWORD);
        await page.getByRole("button", { name: "Confirm address" }).click();
        await logOut(page);
      }
      await page.getByRole("link", { name: "Change address" }).click();
      await expect(page).toHaveURL(/\/sign-up$/);
      await page.goto("/");
      await expect(page.getByRole("link", { name: "Create an account" })).toBeVisible();
    });

    test("a log-in page from before another tab began a session asks to submit it again", async ({
      page,
      member,
      forgive,
    }) => {
      forgive(/403/);
      await logOut(page);
      await page.goto("/log-in?next=/dashboard/renders");
      const other = await page.context().newPage();
      await other.goto("/forgot-password");
      await other.getByLabel("Email").fill(newAddress());
      await other.getByRole("button", { name: "Send link" }).click();
      await expect(other).toHaveURL(/\/check-mail/);
      await other.close();
      await logIn(page, member.email);
      await expect(page.getByRole("alert")).toContainText("This page was out of date, and nothing was submitted.");
      await expect(page.getByLabel("Email")).toHaveValue(member.email);
      await expect(page.getByLabel("Password")).toHaveValue("");
      await logIn(page, member.email);
      await expect(page).toHaveURL(/\/dashboard\/renders$/);
    });

    test("without a mail, the page about mails asks for the address", async ({ page }) => {
      await page.goto("/check-mail?email=eve@example.org");
      await expect(page.getByText("We sent a link to your address.")).toBeVisible();
      await expect(page.getByLabel("Email")).toHaveValue("");
    });

    test("an address without an account is refused in the same words", async ({ page, forgive }) => {
      forgive(/403/);
      await page.goto("/log-in");
      await logIn(page, newAddress(), PASSWORD);
      await expect(page.getByRole("alert")).toHaveText("Email or password is wrong.");
    });

    test("after too many attempts, the page says how long to wait", async ({ page, forgive }) => {
      forgive(/403|429/);
      const address = newAddress();
      await page.goto("/log-in");
      for (let tries = 0; tries < 6; tries += 1) {
        const answered = page.waitForResponse((answer) => answer.url().endsWith("/web/log-in"));
        await logIn(page, address, `not the password ${tries}`);
        await answered;
        await expect(page.getByRole("button", { name: "Log in" })).toBeEnabled();
      }
      await expect(page.getByRole("alert")).toHaveText(/^Too many attempts\. Try again in \d minutes?\.$/);
    });

    test("faults stand beside their fields, with links to them, and what was typed stays", async ({
      page,
      forgive,
    }) => {
      forgive(/422/);
      await page.goto("/sign-up");
      await page.getByLabel("Your name").fill("Ann");
      await page.getByLabel("Work email").fill("ann@example.org");
      await page.getByLabel("Account name").fill("Example & Sons");
      await page.getByLabel("Password").fill("short");
      await page.getByRole("button", { name: "Sign up" }).click();
      const fault = "Enter a password of at least 12 characters.";
      await expect(page.getByRole("alert").getByRole("link")).toHaveText([fault]);
      await expect(page.getByLabel("Password")).toHaveAccessibleDescription(new RegExp(fault.replace(".", "\\.")));
      await expect(page.getByLabel("Password")).toHaveAttribute("aria-invalid", "true");
      await expect(page.getByLabel("Your name")).toHaveValue("Ann");
      await expect(page.getByLabel("Account name")).toHaveValue("Example & Sons");
      if (javaScriptEnabled) await expect(page).not.toHaveURL(/__err|__path/);
      await page.getByRole("alert").getByRole("link").click();
      await expect(page.getByLabel("Password")).toBeFocused();
      await page.goto("/sign-up");
      await expect(page.getByLabel("Your name")).toBeFocused();
    });

    test("the link of a sign-up names the address, also for password managers", async ({ page }) => {
      const address = newAddress();
      await page.goto("/sign-up");
      await page.getByLabel("Your name").fill("Ann");
      await page.getByLabel("Work email").fill(address);
      await page.getByLabel("Account name").fill("Example");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign up" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Check your email");
      const link = await linkFor(address, "Confirm your email address");
      await page.goto(link);
      await expect(page.getByText(address)).toBeVisible();
      await expect(page.locator("input[autocomplete=username]")).toHaveValue(address);
      const password = page.getByLabel("Password");
      await expect(password).toBeFocused();
      await password.fill(PASSWORD);
      const show = page.getByRole("button", { name: "Show Password" });
      if (javaScriptEnabled) {
        await show.click();
        await expect(password).toHaveAttribute("type", "text");
        await page.getByRole("button", { name: "Hide Password" }).click();
        await expect(password).toHaveAttribute("type", "password");
      } else {
        await expect(show).toBeHidden();
      }
      await page.getByRole("button", { name: "Confirm address" }).click();
      await expect(page).toHaveURL(/\/dashboard$/);
      // A used link no longer names it.
      await page.goto(link);
      await expect(page.getByText(address)).toHaveCount(0);
    });

    test("a link that is worthless says so", async ({ page, forgive }) => {
      forgive(/422/);
      await page.goto("/reset-password?token=nothing");
      await page.getByLabel("New password").fill(PASSWORD);
      await page.getByRole("button", { name: "Set password" }).click();
      await expect(page.getByRole("alert")).toContainText("This link has been used or replaced, or has expired.");
    });

    test("a log-in leads nowhere else", async ({ page, baseURL }) => {
      const address = newAddress();
      await signUp(page, address);
      await logOut(page);
      await page.goto("/log-in?next=//evil.example/");
      await logIn(page, address, PASSWORD);
      await expect(page).toHaveURL(`${baseURL}/dashboard`);
    });
  });
}

for (const width of [1280, 390]) {
  test(`the pages of people are accessible at ${width} px`, async ({ page, expectPresentable, forgive }) => {
    forgive(/422/);
    await page.setViewportSize({ width, height: 900 });
    for (const [path, name] of [
      ["/log-in", "log-in"],
      ["/sign-up", "sign-up"],
      ["/sign-up/verify?token=x", "verify"],
      ["/check-mail", "check-mail"],
      ["/check-mail?for=password", "check-mail-password"],
      ["/forgot-password", "forgot-password"],
      ["/reset-password?token=x", "reset-password"],
    ] as const) {
      await page.goto(path);
      await expectPresentable(page, name);
    }
    await page.getByLabel("New password").fill("short");
    await page.getByRole("button", { name: "Set password" }).click();
    await expect(page.getByRole("alert")).toBeVisible();
    await expectPresentable(page, "reset-password-problem");
    await signUp(page, newAddress());
    await expectPresentable(page, "dashboard");
    await page.goto("/settings/confirm-email?token=x");
    await expectPresentable(page, "confirm-email");
    await page.goto("/");
    await expectPresentable(page, "landing-logged-in");
  });
}
