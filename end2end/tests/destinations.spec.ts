import { type Page } from "@playwright/test";

import { expect, test } from "../fixtures.ts";
import { makeMember } from "../people.ts";

const EVIL = `"><img src=x onerror=alert(1)></textarea><script>alert(2)</script>`;
const SECRET = "hunter2-is-not-a-good-secret";

const dialog = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name });

/** Fills in the fields for an S3-compatible store. */
async function fillIn(page: Page, name: string, endpoint: string): Promise<void> {
  const connect = dialog(page, "Connect a bucket");
  await connect.getByLabel("Name").fill(name);
  await connect.getByLabel("Bucket", { exact: true }).fill("hf-archive");
  await connect.getByLabel("Endpoint").fill(endpoint);
  await connect.getByLabel("Access key id").fill("AKIAEXAMPLE");
  await connect.getByLabel("Secret access key").fill(SECRET);
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a bucket is connected, tested and deleted, and what the store says is explained", async ({
      page,
      member,
    }) => {
      expect(member.key).toBeTruthy();
      await page.goto("/dashboard/destinations");
      await expect(page.getByRole("heading", { level: 2, name: "Default storage" })).toBeVisible();
      await page.getByRole("button", { name: "Connect a bucket" }).click();
      await fillIn(page, EVIL, "https://store.invalid");
      await dialog(page, "Connect a bucket").getByLabel("Only under this prefix").fill("2026/<b>/");
      await dialog(page, "Connect a bucket").getByRole("button", { name: "Connect and test" }).click();

      await expect(page).toHaveURL(/\/dashboard\/destinations\?done=connected$/, { timeout: 20_000 });
      const panel = page.getByRole("article").filter({ hasText: EVIL });
      await expect(panel).toContainText("Refused");
      await expect(panel).toContainText("s3://hf-archive/2026/<b>/");
      await expect(panel).toContainText("S3 at https://store.invalid");
      await expect(panel).toContainText("access key AKIAEXAMPLE");
      await expect(panel).toContainText("Please check that https://store.invalid is the address of the store");
      await expect(page.locator("img[src=x]")).toHaveCount(0);
      expect(await page.content()).not.toContain(SECRET);
      await panel.getByRole("button", { name: /^Test again/ }).click();
      await expect(page).toHaveURL(/done=tested$/, { timeout: 20_000 });

      await panel.getByRole("button", { name: /^Delete/ }).click();
      const remove = dialog(page, `Delete “${EVIL}”`);
      await expect(remove.getByRole("button", { name: "Cancel" })).toBeFocused();
      await remove.getByLabel("Type the name to confirm").fill(EVIL);
      await remove.getByRole("button", { name: "Delete connection" }).click();
      await expect(page).toHaveURL(/done=deleted$/);
      await expect(page.getByRole("article")).toHaveCount(1);
    });

    test("what is wrong stands beside its field, and secrets are typed again", async ({ page, member }) => {
      expect(member.key).toBeTruthy();
      await page.goto("/dashboard/destinations");
      await page.getByRole("button", { name: "Connect a bucket" }).click();
      const connect = dialog(page, "Connect a bucket");
      await expect(connect.getByLabel("Key file of a service account")).toBeHidden();
      await fillIn(page, "Archive", "http://127.0.0.1:9000");
      await connect.getByRole("button", { name: "Connect and test" }).click();
      await expect(connect.getByRole("alert").getByRole("link")).toHaveText([
        "Enter a public address without a path, such as https://minio.example.com.",
      ]);
      await expect(connect.getByLabel("Endpoint")).toHaveAttribute("aria-invalid", "true");
      await expect(connect.getByLabel("Name")).toHaveValue("Archive");
      await expect(connect.getByLabel("Access key id")).toHaveValue("AKIAEXAMPLE");
      await expect(connect.getByLabel("Secret access key")).toHaveValue("");
      await expect(connect).toContainText("We keep no secret of a form that is refused.");
      expect(Buffer.from(page.url()).toString()).not.toContain(SECRET);
      const told = new URL(page.url()).searchParams.get("__err")!;
      expect(Buffer.from(told, "base64url").toString()).not.toContain(SECRET);

      await connect.getByText("Google Cloud Storage", { exact: true }).click();
      await expect(connect.getByLabel("Endpoint")).toBeHidden();
      await connect
        .getByLabel("Key file of a service account")
        .fill(`{"type": "authorized_user", "secret": "${SECRET}"}`);
      await connect.getByRole("button", { name: "Connect and test" }).click();
      await expect(connect.getByRole("alert").getByRole("link")).toHaveText([
        "Enter the complete JSON key file of a service account, as Google created it.",
      ]);
      await expect(connect.getByLabel("Key file of a service account")).toHaveValue("");
      await expect(connect.getByLabel("Bucket", { exact: true })).toHaveValue("hf-archive");
      expect(await page.content()).not.toContain(SECRET);
    });
  });
}

test("nobody sees, tests or deletes a connection of another account", async ({ page, member, baseURL }) => {
  expect(member.key).toBeTruthy();
  const other = await makeMember();
  const made = await fetch(`${baseURL}/api/v1/connections`, {
    method: "POST",
    headers: { authorization: `Bearer ${other.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      connection: {
        provider: "aws_s3",
        name: "Theirs",
        bucket: "hf-archive",
        region: "eu-central-1",
        credentials: { access_key_id: "AKIA", secret_access_key: SECRET },
      },
    }),
  });
  expect(made.status).toBe(201);
  const { data } = (await made.json()) as { data: { id: string } };
  await page.goto("/dashboard/destinations");
  expect(await page.content()).not.toContain(data.id);
  const csrf = (await page.locator("meta[name=csrf-token]").getAttribute("content"))!;
  for (const [path, form] of [
    ["/web/test-connection", { subject: data.id }],
    ["/web/delete-connection", { subject: data.id, confirmation: "Theirs" }],
  ] as const) {
    const answer = await page.request.post(path, { form: { csrf, ...form }, headers: { origin: baseURL! } });
    expect(answer.status(), path).toBe(404);
  }
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1280, 390]) {
    test(`the page of destinations is accessible at ${width} px in ${colorScheme}`, async ({
      page,
      member,
      hydrated,
      expectAccessible,
      picture,
    }) => {
      expect(member.key).toBeTruthy();
      // Takes many screenshots, and runs axe on each.
      test.slow();
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const look = async (name: string) => {
        await hydrated(page);
        await expectAccessible(page);
        const widest = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(widest, "nothing overflows").toBeLessThanOrEqual(width);
        await picture(page, `destinations${name}-${width}-${colorScheme}`);
      };
      await page.goto("/dashboard/destinations");
      await page.getByRole("button", { name: "Connect a bucket" }).click();
      await look("-connect");
      await dialog(page, "Connect a bucket").getByText("Google Cloud Storage", { exact: true }).click();
      await look("-connect-google");
      await dialog(page, "Connect a bucket").getByText("Amazon S3", { exact: true }).click();
      await fillIn(page, "Archive", "http://127.0.0.1:9000");
      await dialog(page, "Connect a bucket").getByRole("button", { name: "Connect and test" }).click();
      await expect(dialog(page, "Connect a bucket").getByRole("alert")).toBeVisible();
      await look("-problem");
      await fillIn(page, "Archive", "https://store.invalid");
      await dialog(page, "Connect a bucket").getByRole("button", { name: "Connect and test" }).click();
      await expect(page).toHaveURL(/done=connected$/, { timeout: 20_000 });
      await look("");
      await page.getByRole("button", { name: "Delete Archive" }).click();
      await look("-delete");
    });
  }
}
