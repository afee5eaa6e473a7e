// What the template syntax contains. A test in server/template compares the lists with those of the engine, and the
// examples with their output.

import { element } from "./dom.ts";
import reference from "./reference.json";

export interface Entry {
  signature: string;
  text: string;
  example?: string;
  /** What the example prints. */
  result?: string;
}

type Entries = Readonly<Record<string, Entry>>;

export const filters: Entries = reference.filters;
export const tests: Entries = reference.tests;
export const functions: Entries = reference.functions;
export const tags: Entries = reference.tags;
/** Members of `loop`. */
export const loop: Entries = reference.loop;

/** Returns an entry by its name, which may be that of a property of all objects. */
export function entryOf(entries: Entries, name: string): Entry | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** Returns the documentation of an entry. */
export function describe({ signature, text, example, result }: Entry): HTMLElement {
  const shown = element(
    "div",
    "cm-reference",
    element("code", "cm-reference-signature", signature),
    element("p", "", text),
  );
  if (example !== undefined) {
    shown.append(element("pre", "cm-reference-example", result ? `${example}\n→ ${result}` : example));
  }
  return shown;
}
