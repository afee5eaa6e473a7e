// Builds the folder of dashboard files that the service serves:
//
//   node frontend/build.mjs WORK SITE [--fast]
//
// WORK/module contains the output of wasm-bindgen. The names of files in /pkg contain a digest of their content.
// Without --fast, files are minified and stored together with their compressed forms.

import { createHash } from "node:crypto";
import { cp, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import { build } from "esbuild";
import { compile } from "sass";

/** Maximum size of the module, gzipped: a visitor may have to download it before the page is interactive. */
const MOST_MODULE_BYTES = 350 * 1024;
/** Popovers, which the pages use, require these versions. */
const BROWSERS = ["chrome114", "firefox125", "safari17"];
/** Files that benefit from compression. */
const PACKABLE = /\.(css|js|svg|txt|wasm)$/;

const [work, site, fast] = process.argv.slice(2);
const next = `${site}.next`;
const compiled = join(next, "pkg");

await rm(next, { recursive: true, force: true });
await cp("public", next, { recursive: true });
await mkdir(compiled);

const style = join(work, "platen.css");
await writeFile(style, compile("style/main.scss", { fatalDeprecations: ["import"] }).css);
const { warnings } = await build({
  entryPoints: [
    { in: "frontend/start.ts", out: "platen" },
    { in: style, out: "platen" },
  ],
  outdir: compiled,
  entryNames: "[name].[hash]",
  // Code that only some pages need is loaded by those pages.
  splitting: true,
  chunkNames: "[name].[hash]",
  alias: { "platen-module": resolve(work, "module", "platen.js") },
  bundle: true,
  external: ["../fonts/*"],
  format: "esm",
  minify: !fast,
  target: BROWSERS,
  logLevel: "warning",
});
if (warnings.length > 0) process.exit(1);

const module = await readFile(join(work, "module", "platen_bg.wasm"));
const digest = createHash("sha256").update(module).digest("hex").slice(0, 8).toUpperCase();
await writeFile(join(compiled, `platen.${digest}.wasm`), module);

if (!fast) {
  const sizes = await Promise.all((await files(next)).filter((file) => PACKABLE.test(file)).map(pack));
  for (const { file, plain, gzipped, brotli } of sizes) {
    if (!file.startsWith(compiled)) continue;
    console.error(`site: ${file.slice(compiled.length + 1)}: ${kb(plain)}, gzip ${kb(gzipped)}, brotli ${kb(brotli)}`);
    if (file.endsWith(".wasm") && gzipped > MOST_MODULE_BYTES) {
      console.error(`site: the module exceeds its limit of ${kb(MOST_MODULE_BYTES)} (gzip)`);
      process.exit(1);
    }
  }
}

// Replaces the folder as a whole, so that it never contains files of two builds.
await rm(site, { recursive: true, force: true });
await rename(next, site);

/** Returns the paths of all files in a folder, recursively. */
async function files(folder) {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : [path];
  });
  return (await Promise.all(found)).flat();
}

/** Writes the gzip and Brotli forms of a file next to it, and returns the sizes. */
async function pack(file) {
  const content = await readFile(file);
  const [gzipped, brotli] = await Promise.all([
    promisify(gzip)(content, { level: 9 }),
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
  ]);
  await Promise.all([writeFile(`${file}.gz`, gzipped), writeFile(`${file}.br`, brotli)]);
  return { file, plain: content.length, gzipped: gzipped.length, brotli: brotli.length };
}

function kb(bytes) {
  return `${(bytes / 1024).toFixed(1)} KB`;
}
