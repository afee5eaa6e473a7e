// A mail server for tests: accepts every mail (the subset of RFC 5321 that one client needs) and stores each as a file.

import { randomUUID } from "node:crypto";
import { readFile, readdir, rename, writeFile } from "node:fs/promises";
import { type AddressInfo, type Server, type Socket, createServer } from "node:net";
import { join } from "node:path";

/** Starts the server. `url` is the value for `PLATEN_SMTP_URL`. */
export function startMailbox(folder: string): Promise<{ server: Server; url: string }> {
  const server = createServer((socket) => void converse(socket, folder));
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      resolve({ server, url: `smtp://127.0.0.1:${port}` });
    });
  });
}

async function converse(socket: Socket, folder: string): Promise<void> {
  const say = (line: string) => socket.write(`${line}\r\n`);
  let received = "";
  let inMail = false;
  // A client may disconnect without QUIT.
  socket.on("error", () => socket.destroy());
  say("220 tests");
  for await (const chunk of socket.setEncoding("utf8")) {
    received += chunk as string;
    const end = inMail ? "\r\n.\r\n" : "\r\n";
    for (let at = received.indexOf(end); at >= 0; at = received.indexOf(inMail ? "\r\n.\r\n" : "\r\n")) {
      const said = received.slice(0, at);
      received = received.slice(at + (inMail ? 5 : 2));
      if (inMail) {
        const file = join(folder, `${Date.now()}-${randomUUID()}`);
        await writeFile(`${file}.part`, said);
        await rename(`${file}.part`, `${file}.eml`);
        inMail = false;
        say("250 taken");
      } else if (/^data$/i.test(said)) {
        inMail = true;
        say("354 go on");
      } else if (/^quit/i.test(said)) {
        say("221 bye");
        socket.end();
      } else {
        say("250 tests");
      }
    }
  }
}

/** Returns the texts of the mails with a recipient and subject, latest first. */
export async function mailsTo(folder: string, address: string, subject: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".eml")).sort();
  const mails = await Promise.all(files.reverse().map((file) => readFile(join(folder, file), "utf8")));
  const wanted = mails.filter((mail) => mail.includes(`To: ${address}`) && mail.includes(`Subject: ${subject}`));
  return wanted.map(plainText);
}

/** Returns the decoded text/plain part of a mail (RFC 2045, section 6). */
function plainText(mail: string): string {
  const [head, ...rest] = mail.slice(mail.search(/content-type: text\/plain/i)).split("\r\n\r\n");
  const body = rest.join("\r\n\r\n").split("\r\n--")[0]!;
  const encoding = /content-transfer-encoding: (\S+)/i.exec(head!)?.[1]?.toLowerCase();
  if (encoding === "base64") return Buffer.from(body, "base64").toString();
  if (encoding !== "quoted-printable") return body;
  const bytes = body
    .replaceAll("=\r\n", "")
    .replace(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return Buffer.from(bytes, "latin1").toString();
}
