import { defineConfig } from "@playwright/test";

// `deploy/browser-tests.sh` starts it.
export default defineConfig({
  testDir: "tests",
  outputDir: "results",
  globalSetup: "./service.ts",
  // The service is one for all; what tests make has names of its own.
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  retries: 0,
  timeout: 30_000,
  expect: { timeout: 5_000 },
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    launchOptions: {
      // Debian's, so that nothing is downloaded. Started directly: its wrapper would outlive the tests.
      executablePath: process.env.PLATEN_TEST_CHROMIUM ?? "/usr/lib/chromium/chromium",
      chromiumSandbox: false,
    },
    locale: "en-GB",
    // What still moves can't be clicked reliably where a page runs no script.
    contextOptions: { reducedMotion: "reduce" },
    timezoneId: "Europe/Stockholm",
    trace: "retain-on-failure",
  },
});
