// Users in tests: they sign up by mail, or are created by a command.

import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { join } from "node:path";

import { type Page, expect } from "@playwright/test";

import { mailsTo } from "./mailbox.ts";
import { setting } from "./service.ts";

export const PASSWORD = "correct horse battery";
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Returns a new email address. */
export const newAddress = () => `${crypto.randomUUID()}@example.org`;

/** Returns the link in the latest mail to an address with this subject. */
export async function linkFor(address: string, subject: string): Promise<string> {
  let link: string | undefined;
  await expect(async () => {
    const [mail] = await mailsTo(setting("PLATEN_TEST_MAILS"), address, subject);
    link = /^\S*token=\S*$/m.exec(mail ?? "")?.[0];
    expect(link, `a link in a mail to ${address}: ${subject}`).toBeDefined();
  }).toPass({ timeout: 10_000 });
  return link!;
}

/** Signs up with this address; the user is logged in afterwards. */
export async function signUp(page: Page, address: string): Promise<void> {
  await page.goto("/sign-up");
  await page.getByLabel("Your name").fill("Ann <b>Example</b>");
  await page.getByLabel("Work email").fill(address);
  await page.getByLabel("Account name").fill("Example & Sons");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign up" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Check your email");
  await page.goto(await linkFor(address, "Confirm your email address"));
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Confirm address" }).click();
  await expect(page).toHaveURL(/\/dashboard$/);
}

/** Fills in and submits the form of the log-in page. */
export async function logIn(page: Page, address: string, password = PASSWORD): Promise<void> {
  await page.getByLabel("Email").fill(address);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
}

/** Returns the code that an authenticator app with this secret shows, `later` half-minute steps from now (RFC 6238). */
export function codeOf(secret: string, later = 0): string {
  const bits = [...secret.replaceAll(/\s/g, "")].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0"));
  const bytes = bits
    .join("")
    .match(/.{8}/g)!
    .map((byte) => parseInt(byte, 2));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later));
  const digest = createHmac("sha1", Buffer.from(bytes)).update(step).digest();
  const number = digest.readUInt32BE(digest.at(-1)! & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}

/** An enabled second factor. */
export interface SecondFactor {
  secret: string;
  /** The code that was used to turn it on. */
  usedCode: string;
  recoveryCodes: string[];
}

/** Sets up a second factor for the logged-in user, and ends on the page with the recovery codes. */
export async function setUpSecondFactor(page: Page): Promise<SecondFactor> {
  await page.goto("/dashboard/settings");
  await page.getByRole("button", { name: "Set up authenticator app" }).click();
  return turnOn(page);
}

/** Turns on an authenticator app, on the page that shows the QR code. */
export async function turnAppOn(page: Page): Promise<{ secret: string; usedCode: string }> {
  const secret = (await page.locator(".totp code").textContent())!;
  const usedCode = codeOf(secret);
  await page.getByLabel("Code", { exact: true }).fill(usedCode);
  await page.getByRole("button", { name: "Turn on" }).click();
  return { secret, usedCode };
}

/** The same for the first factor, which comes with recovery codes. */
export async function turnOn(page: Page): Promise<SecondFactor> {
  const { secret, usedCode } = await turnAppOn(page);
  const recoveryCodes = await page
    .getByRole("list", { name: "Recovery codes" })
    .getByRole("listitem")
    .allTextContents();
  expect(recoveryCodes).toHaveLength(10);
  return { secret, usedCode, recoveryCodes };
}

/** Removes the password confirmation from the sessions of a user, as if it had expired. */
export const forgetConfirmation = (email: string) =>
  sql(`update sessions set data = jsonb_set(data, '{person,confirmed}', 'null')
       where user_id = (select id from users where email = '${email}')`);

/** Executes a statement on the service's database directly. */
function sql(statement: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = ["-h", join(setting("PLATEN_TEST_DATA"), "run"), "-U", "platen", "-d", "platen", "-c", statement];
    execFile("psql", options, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
}

/** Logs out with the user menu of a dashboard page. */
export async function logOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /your menu$/ }).click();
  await page.getByRole("button", { name: "Log out" }).click();
  await expect(page).toHaveURL(/\/log-in$/);
}

/** The owner of an account. */
export interface Member {
  email: string;
  /** A live key with every scope. */
  key: string;
}

/** Creates an account with a key by commands, as an operator does. */
export async function makeMember(): Promise<Member> {
  const email = newAddress();
  await platen(["accounts", "create", "--email", email, "--plan", "Growth"], `${PASSWORD}\n`);
  const key = await platen(["keys", "create", "--email", email, "--name", "Tests"]);
  return { email, key: key.trim() };
}

/** Makes the logged-in user an operator, with the second factor that operators need. */
export async function becomeOperator(page: Page, member: Member): Promise<void> {
  await platen(["admin", "appoint", "--email", member.email]);
  await setUpSecondFactor(page);
}

/** Runs a command of the program and returns its output. */
export function platen(commands: string[], input = ""): Promise<string> {
  return new Promise((resolve, reject) => {
    const program = execFile(
      setting("PLATEN_TEST_PROGRAM"),
      commands,
      { env: { PATH: process.env.PATH, HOME: process.env.HOME, PLATEN_DATA_DIR: setting("PLATEN_TEST_DATA") } },
      (error, stdout, stderr) => (error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout)),
    );
    // A command that reads no input may exit before this is written.
    program.stdin!.on("error", () => undefined);
    program.stdin!.end(input);
  });
}
