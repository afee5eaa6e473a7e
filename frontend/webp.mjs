// Converts every PNG file of a folder to WebP, with the Chromium of the browser tests:
//
//   node frontend/webp.mjs FROM TO

import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { chromium } from "@playwright/test";

/** Lines of text stay recognizable, and the pictures of starters are smaller than 12 KB. */
const QUALITY = 0.7;

const [from, to] = process.argv.slice(2);
const executablePath = process.env.PLATEN_TEST_CHROMIUM ?? "/usr/lib/chromium/chromium-headless-shell";
const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
const page = await browser.newPage();
for (const file of (await readdir(from)).filter((file) => file.endsWith(".png"))) {
  const png = await readFile(join(from, file), "base64");
  const webp = await page.evaluate(
    async ({ png, quality }) => {
      const image = new Image();
      image.src = `data:image/png;base64,${png}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext("2d").drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", quality).split(",")[1];
    },
    { png, quality: QUALITY },
  );
  await writeFile(join(to, file.replace(/png$/, "webp")), webp, "base64");
}
await browser.close();
