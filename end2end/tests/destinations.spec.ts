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
      await dialog(page, "Connect a bucket").getByLabel("Prefix").fill("2026/<b>/");
      await dialog(page, "Connect a bucket").getByRole("button", { name: "Connect and test" }).click();

      await expect(page).toHaveURL(/\/dashboard\/destinations\?done=saved&failed=[\w-]+$/, { timeout: 20_000 });
      const notice = page.getByRole("status").filter({ hasText: "Saved. The connection test failed." });
      await expect(notice).toContainText("PutObject failed.");
      await expect(notice).toContainText("Check the host name of the endpoint https://store.invalid.");
      await expect(page.getByText("Connection saved and tested.")).toHaveCount(0);
      const panel = page.getByRole("article").filter({ hasText: EVIL });
      await expect(panel).toContainText("Refused");
      await expect(panel).toContainText("s3://hf-archive/2026/<b>/");
      await expect(panel).toContainText("S3 at https://store.invalid");
      await expect(panel).toContainText("access key AKIAEXAMPLE");
      await expect(page.locator("img[src=x]")).toHaveCount(0);
      expect(await page.content()).not.toContain(SECRET);
      await panel.getByRole("button", { name: /^Test again/ }).click();
      await expect(page).toHaveURL(/done=tested&failed=[\w-]+$/, { timeout: 20_000 });
      // The reason stays on the page, once.
      await page.goto("/dashboard/destinations");
      await expect(page.getByText("The connection test failed.")).toHaveCount(0);
      await expect(panel.getByText("Check the host name of the endpoint")).toHaveCount(1);

      await panel.getByRole("button", { name: /^Delete/ }).click();
      const remove = dialog(page, `Delete “${EVIL}”`);
      await expect(remove.getByLabel(/^Type/)).toBeFocused();
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
      await expect(connect).toContainText("Secrets of a rejected form are not stored.");
      expect(Buffer.from(page.url()).toString()).not.toContain(SECRET);
      if (javaScriptEnabled) {
        await expect(page).not.toHaveURL(/__err/);
      } else {
        const told = new URL(page.url()).searchParams.get("__err")!;
        expect(Buffer.from(told, "base64url").toString()).not.toContain(SECRET);
      }

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

    test("a connection is edited, and credentials that fail the test are not stored", async ({ page, member }) => {
      expect(member.key).toBeTruthy();
      await page.goto("/dashboard/destinations");
      await page.getByRole("button", { name: "Connect a bucket" }).click();
      await fillIn(page, "Archive", "https://store.invalid");
      await dialog(page, "Connect a bucket").getByRole("button", { name: "Connect and test" }).click();
      await expect(page).toHaveURL(/done=saved/, { timeout: 20_000 });

      const panel = page.getByRole("article").filter({ hasText: "hf-archive" });
      await panel.getByRole("button", { name: "Edit Archive" }).press("Enter");
      const edit = dialog(page, "Edit “Archive”");
      await expect(edit.getByLabel("Name")).toBeFocused();
      await expect(edit.getByLabel("Endpoint")).toHaveValue("https://store.invalid");
      await expect(edit).toContainText("Provider, bucket and prefix can’t be changed");
      await edit.getByLabel("Endpoint").fill("http://127.0.0.1:9000");
      await edit.getByRole("button", { name: "Save and test" }).click();
      await expect(edit.getByRole("alert").getByRole("link")).toHaveText([
        "Enter a public address without a path, such as https://minio.example.com.",
      ]);
      await edit.getByLabel("Name").fill("Invoices");
      await edit.getByLabel("Endpoint").fill("https://other.invalid");
      await edit.getByLabel("Endpoint").press("Enter");
      await expect(page).toHaveURL(/done=saved&failed=/, { timeout: 20_000 });
      await expect(panel).toContainText("S3 at https://other.invalid");

      await panel.getByRole("button", { name: "Rotate credentials of Invoices" }).press("Enter");
      const rotate = dialog(page, "Rotate credentials of “Invoices”");
      await rotate.getByLabel("Access key id").fill("AKIANEXT");
      await rotate.getByLabel("Secret access key").fill(SECRET);
      await rotate.getByRole("button", { name: "Test and rotate" }).click();
      await expect(rotate.getByRole("alert")).toContainText("The previous credentials stay in use.", {
        timeout: 20_000,
      });
      await expect(rotate).toContainText("PutObject failed.");
      await expect(rotate).toContainText("Check the host name of the endpoint https://other.invalid.");
      await expect(rotate.getByLabel("Access key id")).toHaveValue("AKIANEXT");
      await expect(rotate.getByLabel("Secret access key")).toHaveValue("");
      if (javaScriptEnabled) {
        await expect(page).not.toHaveURL(/__err/);
      } else {
        const told = new URL(page.url()).searchParams.get("__err")!;
        expect(Buffer.from(told, "base64url").toString()).not.toContain(SECRET);
      }
      await page.goto("/dashboard/destinations");
      await expect(panel).toContainText("access key AKIAEXAMPLE");
    });
  });
}

test("connections of another account can't be seen, tested or deleted", async ({ page, member, baseURL }) => {
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
    ["/web/edit-connection", { subject: data.id, connection_name: "Mine", region: "eu-central-1" }],
    ["/web/rotate-credentials", { subject: data.id, access_key_id: "AKIA", secret_access_key: SECRET }],
    ["/web/delete-connection", { subject: data.id, confirmation: "Theirs" }],
  ] as const) {
    const answer = await page.request.post(path, { form: { csrf, ...form }, headers: { origin: baseURL! } });
    expect(answer.status(), path).toBe(404);
  }
});

for (const width of [1280, 390]) {
  test(`the page of destinations is accessible at ${width} px`, async ({ page, member, expectPresentable }) => {
    expect(member.key).toBeTruthy();
    await page.setViewportSize({ width, height: 900 });
    const look = (name: string) => expectPresentable(page, `destinations${name}`);
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
    await expect(page).toHaveURL(/done=saved/, { timeout: 20_000 });
    await look("");
    await page.getByRole("button", { name: "Edit Archive" }).click();
    await look("-edit");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Rotate credentials of Archive" }).click();
    await dialog(page, /^Rotate/)
      .getByLabel("Access key id")
      .fill("AKIANEXT");
    await dialog(page, /^Rotate/)
      .getByLabel("Secret access key")
      .fill(SECRET);
    await dialog(page, /^Rotate/)
      .getByRole("button", { name: "Test and rotate" })
      .click();
    await expect(dialog(page, /^Rotate/).getByRole("alert")).toBeVisible({ timeout: 20_000 });
    await look("-rotate");
    await page.goto("/dashboard/destinations");
    await page.getByRole("button", { name: "Delete Archive" }).click();
    await look("-delete");
  });
}
