// Documentation under the pointer: filters, tests, functions and tags, and the sample values of names.

import type { Extension } from "@codemirror/state";
import { type EditorView, hoverTooltip, type Tooltip } from "@codemirror/view";

import { pathThrough, placeAt, type Place } from "./cursor.ts";
import { element } from "./dom.ts";
import { isTest } from "./paths.ts";
import { describe, entryOf, filters, functions, loop, tags, tests, type Entry } from "./reference.ts";
import { sampleData, shown } from "./sample-data.ts";
import { LOOP } from "./scope.ts";

/** Returns the extension that documents what the pointer is over. */
export function hover(): Extension {
  return hoverTooltip(documentationAt, { hideOnChange: true });
}

function documentationAt(view: EditorView, offset: number): Tooltip | null {
  const place = placeAt(view.state.doc.toString(), offset, view.state.facet(sampleData)());
  const at = place?.tag.tokens.findIndex(({ from, to }) => from <= offset && offset < to) ?? -1;
  const content = place && at >= 0 && contentFor(place, at);
  if (!content) return null;
  const { from, to } = place.tag.tokens[at]!;
  return { pos: from, end: to, above: true, create: () => ({ dom: content }) };
}

function contentFor(place: Place, at: number): HTMLElement | undefined {
  const entry = entryFor(place, at);
  if (entry) return describe(entry);
  const path = pathThrough(place.tag, place.tag.tokens[at]!.from);
  if (!path) return undefined;
  const [sample] = place.scope.resolve(path.segments);
  if (sample === undefined || sample === LOOP) return undefined;
  const value = element("code", "cm-reference-signature", shown(sample));
  return element("div", "cm-reference", value, element("p", "", "In the sample data."));
}

function entryFor({ tag, scope }: Place, at: number): Entry | undefined {
  const { kind, tokens } = tag;
  const { kind: kindOfToken, text } = tokens[at]!;
  if (kindOfToken !== "name") return undefined;
  const before = tokens[at - 1];
  if (kind === "statement" && at === 0) return entryOf(tags, text.replace(/^end(?=.)/, ""));
  if (before?.text === "|" || (kind === "statement" && at === 1 && before?.text === "filter"))
    return entryOf(filters, text);
  if (isTest(tokens, at)) return entryOf(tests, text);
  if (before?.text === ".") return tokens[at - 2]?.text === "loop" ? entryOf(loop, text) : undefined;
  return scope.find(text) || tokens[at + 1]?.text !== "(" ? undefined : entryOf(functions, text);
}
