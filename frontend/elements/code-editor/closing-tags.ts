// Closing tags: `>` after an opening tag inserts its closing tag, and typing a closing tag that is there already passes
// over it, as with brackets. Whether a tag is missing is decided by counting, because branches of a template may open an
// element more often than they close it. The syntax tree isn't used: on a slow machine it is not up to date when a
// character is typed.

import type { EditorState, Extension, Transaction } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/** Elements without a closing tag (HTML, 13.1.2). */
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
/** A tag, or content that has no tags of HTML and may be unfinished. */
const TOKEN = new RegExp(
  [
    String.raw`(?<other>\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$)|\{#.*?(?:#\}|$)|<!--.*?(?:-->|$))`,
    String.raw`<(?<slash>\/?)(?<name>[a-z][\w:-]*)` +
      String.raw`(?:"[^"]*"|'[^']*'|\{\{(?:(?!\}\}).)*\}\}|\{(?!\{)|[^'"<>{])*?(?<empty>\/?)>`,
  ].join("|"),
  "gis",
);
const FINISHED = /(?:\}\}|%\}|#\}|-->)$/;

interface ElementTag {
  /** In lower case. */
  name: string;
  written: string;
  closes: boolean;
  /** Offset of its end. */
  to: number;
}

interface Markup {
  tags: ElementTag[];
  /** Whether the text ends within an expression, a comment, a script or a style sheet. */
  isUnfinished: boolean;
}

/** Returns the extension. */
export function closingTags(): Extension {
  return EditorView.inputHandler.of((view, from, to, text, insert) => {
    const { state } = view;
    if (from !== to || view.composing || state.readOnly || state.selection.ranges.length > 1) return false;
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
  const opening = markup(state.sliceDoc(0, head)).tags.at(-1);
  if (opening?.to !== head || opening.closes || missing(state, opening.name) <= 0) return undefined;
  const changes = { from: head, insert: `</${opening.written}>` };
  return [insert, state.update({ changes, userEvent: "input.complete", scrollIntoView: true })];
}

/** Returns the transactions that pass over a character of the closing tag at the cursor. */
function passOver(state: EditorState, from: number, text: string): Transaction[] | undefined {
  const line = state.doc.lineAt(from);
  const before = line.text.slice(0, from - line.from);
  const after = line.text.slice(from - line.from);
  const pass = { scrollIntoView: true, userEvent: "input.type" };
  const begun = /<\/[\w:-]*$/.exec(before);
  if (begun && /^[\w:-]*>/.test(after) && after.startsWith(text)) {
    if (markup(state.sliceDoc(0, line.from + begun.index)).isUnfinished) return undefined;
    return [state.update({ selection: { anchor: from + text.length }, ...pass })];
  }
  const name = text === "/" && before.endsWith("<") && /^<\/([\w:-]+)>/.exec(after)?.[1];
  if (!name || innermost(state.sliceDoc(0, from - 1)) !== name.toLowerCase()) return undefined;
  if (missing(state, name) > 0) return undefined;
  // The `<` that was typed turns out to be that of the tag.
  const changes = { from: from - 1, to: from };
  return [state.update({ changes, selection: { anchor: from + 1 }, ...pass })];
}

/** Returns the tags of elements that have closing tags. */
function markup(html: string): Markup {
  const found: Markup = { tags: [], isUnfinished: false };
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(html); token; token = TOKEN.exec(html)) {
    const { other, slash, empty } = token.groups!;
    if (other !== undefined) {
      found.isUnfinished = !FINISHED.test(other);
      continue;
    }
    const written = token.groups!.name!;
    const name = written.toLowerCase();
    if (empty !== "" || VOID.has(name)) continue;
    const closes = slash !== "";
    found.tags.push({ name, written, closes, to: TOKEN.lastIndex });
    if (closes || (name !== "script" && name !== "style")) continue;
    const closing = new RegExp(`</${name}\\s*>`, "i").exec(html.slice(TOKEN.lastIndex));
    found.isUnfinished = closing === null;
    TOKEN.lastIndex = closing ? TOKEN.lastIndex + closing.index : html.length;
  }
  return found;
}

/** Returns how many more opening than closing tags of an element there are. */
function missing(state: EditorState, element: string): number {
  const tags = markup(state.doc.toString()).tags.filter(({ name }) => name === element.toLowerCase());
  return tags.reduce((open, { closes }) => open + (closes ? -1 : 1), 0);
}

/** Returns the name of the element that is open at the end. */
function innermost(html: string): string | undefined {
  const open: string[] = [];
  for (const { name, closes } of markup(html).tags) {
    if (!closes) open.push(name);
    else if (open.includes(name)) open.length = open.lastIndexOf(name);
  }
  return open.at(-1);
}
