import { expect, test } from "../fixtures.ts";

/** Page, button that opens the dialog, field or safe action that is focused, and confirming button of the dialog. */
const DIALOGS = [
  ["/dashboard/api-keys", "New key", "Name", "Create key"],
  ["/dashboard/templates", "New template", "Name", "Create template"],
  ["/dashboard/destinations", "Connect a bucket", "Name", "Connect and test"],
  ["/dashboard/team", "Invite members", "Email", "Send invitation"],
  ["/dashboard/settings", "Delete account", /^Type/, "Delete in seven days"],
  ["/dashboard/webhooks", "Replace secret", "Cancel", "Replace secret"],
] as const;

for (const javaScriptEnabled of [true, false]) {
  for (const [width, height] of [
    [1280, 800],
    [390, 700],
  ] as const) {
    const script = javaScriptEnabled ? "with" : "without";
    test.describe(`${width} × ${height}, ${script} JavaScript`, () => {
      test.use({ javaScriptEnabled, viewport: { width, height } });

      test("dialogs open on their first field, or else on Cancel, with their buttons in view", async ({
        page,
        member,
      }) => {
        expect(member.email).toBeTruthy();
        for (const [path, opens, focused, last] of DIALOGS) {
          await page.goto(path);
          await page.getByRole("button", { name: opens }).first().click();
          const dialog = page.getByRole("dialog");
          const first = dialog.getByLabel(focused).or(dialog.getByRole("button", { name: focused }));
          await expect(first, path).toBeFocused();
          await expect(dialog.getByRole("button", { name: last }), path).toBeInViewport({ ratio: 1 });
        }
      });

      test("the form of a new key scrolls between its title and its buttons", async ({ page, member }) => {
        expect(member.email).toBeTruthy();
        await page.goto("/dashboard/api-keys");
        await page.getByRole("button", { name: "New key" }).click();
        const dialog = page.getByRole("dialog", { name: "New key" });
        await dialog.getByLabel("Allowed addresses").scrollIntoViewIfNeeded();
        for (const part of [
          dialog.getByRole("heading", { name: "New key" }),
          dialog.getByLabel("Allowed addresses"),
          dialog.getByRole("button", { name: "Create key" }),
        ]) {
          await expect(part).toBeInViewport({ ratio: 0.9 });
        }
      });
    });
  }
}
