import { defineConfig } from "@playwright/test";

// Started by `deploy/browser-tests.sh`.
export default defineConfig({
  testDir: "tests",
  outputDir: "results",
  globalSetup: "./service.ts",
  // All tests share one service and create objects with unique names.
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  retries: 0,
  timeout: 90_000,
  expect: { timeout: 10_000 },
  reporter: [["list"], ["./failures.ts"]],
  use: {
    browserName: "chromium",
    launchOptions: {
      // Debian's Chromium, so that nothing is downloaded. Started directly, because its wrapper would outlive the
      // tests.
      executablePath: process.env.PLATEN_TEST_CHROMIUM ?? "/usr/lib/chromium/chromium",
      chromiumSandbox: false,
    },
    locale: "en-GB",
    // Moving elements can't be clicked reliably on pages without script.
    contextOptions: { reducedMotion: "reduce" },
    timezoneId: "Europe/Stockholm",
    trace: "retain-on-failure",
  },
});
