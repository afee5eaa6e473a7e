import type { FullConfig, Reporter, TestCase, TestResult } from "@playwright/test/reporter";

const MOST_CHARACTERS = 2_000;

/** Prints the errors of failed tests once more at the end, where logs are read first. */
export default class Failures implements Reporter {
  #failed: string[] = [];
  #folder = "";

  onBegin(config: FullConfig): void {
    this.#folder = config.rootDir;
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    if (result.status === test.expectedStatus) return;
    const place = test.location.file.replace(`${this.#folder}/`, "");
    const errors = result.errors.map((error) => (error.message ?? "").replace(/\x1b\[[0-9;]*m/g, ""));
    this.#failed.push(`${place}: ${test.title}: ${result.status}\n${errors.join("\n").slice(0, MOST_CHARACTERS)}`);
  }

  async onExit(): Promise<void> {
    for (const failed of this.#failed) console.log(`\n${failed}`);
  }
}
