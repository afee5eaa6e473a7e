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
  // On a busy machine, one of some hundred may time out. A test that passes the second time is listed as flaky.
  retries: 1,
  timeout: 90_000,
  expect: { timeout: 10_000 },
  reporter: [["list"], ["./failures.ts"]],
  use: {
    browserName: "chromium",
    launchOptions: {
      // Debian's, so that nothing is downloaded, and without the interface of the full browser, which takes half of the
      // time. Started directly, because its wrapper would outlive the tests.
      executablePath: process.env.PLATEN_TEST_CHROMIUM ?? "/usr/lib/chromium/chromium-headless-shell",
      chromiumSandbox: false,
    },
    locale: "en-GB",
    // Moving elements can't be clicked reliably on pages without script.
    contextOptions: { reducedMotion: "reduce" },
    timezoneId: "Europe/Stockholm",
    // Recording costs a third of the time. For one test: `deploy/browser-tests.sh --trace retain-on-failure -g TITLE`.
    trace: "off",
  },
});
