import type { APIRequestContext } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import type { Member } from "../people.ts";

/** Enqueues a render with an unreachable webhook and returns its id. */
async function queue(request: APIRequestContext, member: Member): Promise<string> {
  const answer = await request.post(`${process.env.PLATEN_TEST_URL}/api/v1/renderers/pdf/async`, {
    headers: { authorization: `Bearer ${member.key}` },
    data: { parts: ["<h1>Queued</h1>"], callback: { url: "https://hooks.invalid/platen" } },
  });
  return answer.headers()["x-render-id"]!;
}

const short = (id: string) => `${id.slice(0, 8)}…${id.slice(-4)}`;

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("the signing secret is revealed and replaced", async ({ page, member }) => {
      expect(member.email).toContain("@");
      await page.goto("/dashboard/webhooks");
      const secret = page.locator(".copy__value");
      await expect(secret).not.toContainText(/whsec_[A-Za-z0-9+/]/);
      await page.getByRole("button", { name: "Reveal the signing secret" }).click();
      await expect(secret).toHaveText(/^whsec_[A-Za-z0-9+/]{43}=$/);
      const first = await secret.textContent();
      await page.getByRole("button", { name: "Replace secret" }).click();
      const dialog = page.getByRole("dialog", { name: "Replace the signing secret" });
      await expect(dialog).toBeVisible();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await expect(dialog).toBeHidden();
      await page.getByRole("button", { name: "Replace secret" }).click();
      await dialog.getByRole("button", { name: "Replace secret" }).click();
      await expect(page.getByText("a signature by the previous secret until")).toBeVisible();
      await expect(secret).not.toHaveText(first!);
    });

    test("a receiver is shown in the chosen language", async ({ page, member }) => {
      expect(member.email).toContain("@");
      await page.goto("/dashboard/webhooks");
      await expect(page.getByRole("group", { name: /^Receiver in/ })).toHaveCount(1);
      for (const [language, line] of [
        ["Python", "hmac.compare_digest"],
        ["Go", "hmac.Equal"],
        ["Ruby", "OpenSSL.secure_compare"],
        ["PHP", "hash_equals"],
        ["Java", "MessageDigest.isEqual"],
        ["Node.js", "timingSafeEqual"],
      ] as const) {
        await page.getByRole("radio", { name: language, exact: true }).check();
        await expect(page.getByRole("group", { name: /^Receiver in/ })).toHaveAccessibleName(`Receiver in ${language}`);
        await expect(page.getByRole("group", { name: `Receiver in ${language}` })).toContainText(line);
      }
    });

    test("a delivery is looked at, sent again and given up", async ({ page, member, request }) => {
      const id = await queue(request, member);
      const row = page
        .getByRole("table", { name: "Webhook deliveries" })
        .getByRole("row")
        .filter({ hasText: short(id) });
      await expect(async () => {
        await page.goto("/dashboard/webhooks?outcome=trying");
        await expect(row).toContainText("Pending, next in", { timeout: 200 });
      }).toPass({ timeout: 20_000 });
      await row.getByRole("button", { name: `Open delivery ${short(id)}` }).click();
      const drawer = page.getByRole("dialog", { name: `Delivery for ${short(id)}` });
      await expect(drawer.getByRole("group", { name: /^Body/ })).toContainText('"status": "success"');
      await drawer.getByRole("button", { name: "Resend now" }).click();
      await expect(page).toHaveURL("/dashboard/webhooks");
      await expect(async () => {
        await page.reload();
        await expect(row).toContainText("Pending, next in", { timeout: 200 });
        await expect(row.getByRole("cell", { name: "2", exact: true })).toBeVisible({ timeout: 200 });
      }).toPass({ timeout: 20_000 });
      await row.getByRole("button", { name: /^Open/ }).click();
      await drawer.getByRole("button", { name: "Cancel delivery" }).click();
      await expect(row).toContainText("Stopped, no response");
      await row.getByRole("button", { name: /^Open/ }).click();
      await expect(drawer.getByRole("button", { name: "Cancel delivery" })).toHaveCount(0);
    });
  });
}

for (const width of [1280, 390]) {
  test(`the page of webhooks is accessible at ${width} px`, async ({ page, member, request, expectPresentable }) => {
    await page.setViewportSize({ width, height: 900 });
    const id = await queue(request, member);
    const row = page.getByRole("row").filter({ hasText: short(id) });
    await expect(async () => {
      await page.goto("/dashboard/webhooks");
      await expect(row).toContainText("Pending, next in", { timeout: 200 });
    }).toPass({ timeout: 20_000 });
    await expectPresentable(page, "webhooks");
    await row.getByRole("button", { name: /^Open/ }).click();
    await expectPresentable(page, "webhooks-delivery");
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Replace secret" }).click();
    await expectPresentable(page, "webhooks-roll");
  });
}
