// Prints what pdf.js reads in the structure trees of the PDFs in a folder, as JSON: for each file, the texts of its marked content in the
// order of the tree, page by page.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { getDocument, VerbosityLevel } from "pdfjs-dist/legacy/build/pdf.mjs";

/** Returns the texts of a page by the identifiers of their marked content. */
async function textsOf(page) {
  const texts = new Map();
  // Identifiers of the marked content that is open; inner sequences without one belong to the outer one.
  const open = [];
  const { items } = await page.getTextContent({ includeMarkedContent: true });
  for (const item of items) {
    if (item.type === "beginMarkedContentProps") {
      open.push(item.id ?? open.at(-1));
    } else if (item.type === "beginMarkedContent") {
      open.push(open.at(-1));
    } else if (item.type === "endMarkedContent") {
      open.pop();
    } else if (open.at(-1)) {
      texts.set(open.at(-1), (texts.get(open.at(-1)) ?? "") + item.str);
    }
  }
  return texts;
}

/** Returns the identifiers of the marked content in a structure tree in its order. */
function contentsOf(node) {
  return node.type === "content" ? [node.id] : (node.children ?? []).flatMap(contentsOf);
}

async function read(path) {
  const data = new Uint8Array(await readFile(path));
  const loading = getDocument({ data, verbosity: VerbosityLevel.ERRORS });
  const document = await loading.promise;
  const read = [];
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    const [tree, texts] = [await page.getStructTree(), await textsOf(page)];
    read.push(...contentsOf(tree ?? {}).map((id) => texts.get(id) ?? ""));
    page.cleanup();
  }
  await loading.destroy();
  return read;
}

const folder = process.argv[2];
const files = {};
for (const name of await readdir(folder)) {
  files[name] = await read(join(folder, name));
}
console.log(JSON.stringify(files));
