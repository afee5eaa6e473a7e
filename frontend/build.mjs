// Makes the folder that the service serves as the dashboard's files:
//
//   node frontend/build.mjs WORK SITE [--fast]
//
// WORK/module holds what wasm-bindgen has written. What is served under /pkg has a digest of its content in its name.
// Without --fast everything is made small and lies beside its packed forms.

import { createHash } from "node:crypto";
import { cp, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import { build } from "esbuild";
import { compile } from "sass";

/** What a visitor may have to fetch before the page answers by itself. */
const MOST_MODULE_BYTES = 350 * 1024;
/** Older browsers lack what the pages are built on: popovers. */
const BROWSERS = ["chrome114", "firefox125", "safari17"];
/** What gets smaller when it is packed. */
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
  // What only some pages need is loaded by those.
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
      console.error(`site: the module may have ${kb(MOST_MODULE_BYTES)} gzipped`);
      process.exit(1);
    }
  }
}

// The folder is either the old one or the new one.
await rm(site, { recursive: true, force: true });
await rename(next, site);

/** Every file in a folder and below. */
async function files(folder) {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : [path];
  });
  return (await Promise.all(found)).flat();
}

/** Puts the packed forms of a file beside it. */
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
