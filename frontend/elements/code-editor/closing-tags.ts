// Closing tags: `>` after an opening tag inserts its closing tag, and typing a closing tag that is there already passes
// over it, as with brackets. Whether a tag is missing is decided by counting, because branches of a template may open an
// element more often than they close it.

import { htmlLanguage } from "@codemirror/lang-html";
import { syntaxTree } from "@codemirror/language";
import type { EditorState, Extension, Transaction } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/** Elements without a closing tag (HTML, 13.1.2). */
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
/** Content that has no tags of HTML. */
const OTHER = /\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<!--.*?-->|<(script|style)\b.*?<\/\1\s*>/gis;
const TAG = /<(?<slash>\/?)(?<name>[a-z][\w:-]*)(?:"[^"]*"|'[^']*'|[^'"<>])*?(?<empty>\/?)>/gi;

interface ElementTag {
  name: string;
  closes: boolean;
}

/** Returns the extension. */
export function closingTags(): Extension {
  return EditorView.inputHandler.of((view, from, to, text, insert) => {
    const { state } = view;
    if (from !== to || view.composing || state.readOnly || state.selection.ranges.length > 1) return false;
    if (!htmlLanguage.isActiveAt(state, from, -1)) return false;
    const transactions = text === ">" ? (passOver(state, from, text) ?? close(insert())) : passOver(state, from, text);
    if (!transactions) return false;
    view.dispatch(transactions);
    return true;
  });
}

/** Returns the transactions that insert `>` and, if it is missing, the closing tag after the cursor. */
function close(insert: Transaction): Transaction[] | undefined {
  const { state } = insert;
  const { head } = state.selection.main;
  const end = syntaxTree(state).resolveInner(head, -1);
  const opening = end.name === "EndTag" && end.to === head ? end.parent : null;
  const written = opening?.name === "OpenTag" ? opening.getChild("TagName") : null;
  if (!written) return undefined;
  const name = state.sliceDoc(written.from, written.to);
  if (VOID.has(name.toLowerCase()) || missing(state.doc.toString(), name) <= 0) return undefined;
  const changes = { from: head, insert: `</${name}>` };
  return [insert, state.update({ changes, userEvent: "input.complete", scrollIntoView: true })];
}

/** Returns the transactions that pass over a character of the closing tag at the cursor. */
function passOver(state: EditorState, from: number, text: string): Transaction[] | undefined {
  const line = state.doc.lineAt(from);
  const before = line.text.slice(0, from - line.from);
  const after = line.text.slice(from - line.from);
  const pass = { scrollIntoView: true, userEvent: "input.type" };
  if (/<\/[\w:-]*$/.test(before) && /^[\w:-]*>/.test(after) && after.startsWith(text)) {
    return [state.update({ selection: { anchor: from + text.length }, ...pass })];
  }
  const name = text === "/" && before.endsWith("<") && /^<\/([\w:-]+)>/.exec(after)?.[1];
  if (!name || innermost(state.sliceDoc(0, from - 1)) !== name.toLowerCase()) return undefined;
  if (missing(state.doc.toString(), name) > 0) return undefined;
  // The `<` that was typed turns out to be that of the tag.
  const changes = { from: from - 1, to: from };
  return [state.update({ changes, selection: { anchor: from + 1 }, ...pass })];
}

function tagsIn(html: string): ElementTag[] {
  return Array.from(html.replace(OTHER, "").matchAll(TAG), ({ groups }) => ({
    name: groups!.name!.toLowerCase(),
    closes: groups!.slash !== "",
    empty: groups!.empty !== "",
  })).filter(({ name, empty }) => !empty && !VOID.has(name));
}

/** Returns how many more opening than closing tags of an element there are. */
function missing(html: string, element: string): number {
  const tags = tagsIn(html).filter(({ name }) => name === element.toLowerCase());
  return tags.reduce((open, { closes }) => open + (closes ? -1 : 1), 0);
}

/** Returns the name of the element that is open at the end. */
function innermost(html: string): string | undefined {
  const open: string[] = [];
  for (const { name, closes } of tagsIn(html)) {
    if (!closes) open.push(name);
    else if (open.includes(name)) open.length = open.lastIndexOf(name);
  }
  return open.at(-1);
}
