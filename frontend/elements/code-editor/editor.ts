// The editor: CodeMirror, configured for templates and their data.

import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  type ViewUpdate,
} from "@codemirror/view";

import { findBar } from "./find-bar.ts";
import { colours, look } from "./look.ts";
import { languageOf, type Language } from "./languages.ts";
import { mark, offsetOf, type Marker } from "./markers.ts";
import { isTemplate, showInPreview } from "./preview.ts";
import { showShortcuts } from "./shortcuts.ts";
import { tidyTemplate } from "./tidying.ts";
import { addTools } from "./tools.ts";
import { applyWrapping, toggleWrapping, wrapping } from "./wrapping.ts";

/** The accessible description, read after the label. */
const WAY_OUT = "Tab indents; press Escape first to leave by Tab. F1 lists the keyboard shortcuts.";

/** Our spelling of CodeMirror's texts. */
const PHRASES = {
  go: "Go",
  close: "Close",
  Diagnostics: "Errors and warnings",
  "No diagnostics": "No errors or warnings",
};

/** Keys that also work in the find bar. */
const OUR_KEYS = [
  { key: "F1", run: showShortcuts, scope: "editor search-panel", preventDefault: true },
  { key: "Alt-z", run: toggleWrapping, scope: "editor search-panel", preventDefault: true },
  { key: "Alt-p", run: showInPreview, preventDefault: true },
  { key: "Shift-Alt-f", run: (view: EditorView) => isTemplate(view) && tidyTemplate(view), preventDefault: true },
];

export interface Options {
  /** Name of the document that is shown first. */
  document: string;
  text: string;
  label: string;
  language: Language;
  /** Returns the sample data of the template as JSON. Without it, the content is HTML that isn't filled. */
  data: (() => string) | undefined;
  /** Called when the user changes the text. */
  onInput: () => void;
}

export interface Editor {
  text(): string;
  mark(markers: Marker[]): void;
  /** Selects the characters between two columns, or moves the cursor if these are equal. */
  goTo(line: number, column: number, end: number): void;
  /** Shows another document. Its undo history and selection are those of the last time, unless the text differs. */
  show(document: string, text: string): void;
  /** Replaces the text, in one undo step or together with the changes before. */
  replace(text: string, step: "own" | "joined"): void;
  focus(): void;
  close(): void;
}

/** Creates an editor in an element. */
export function open(parent: HTMLElement, options: Options): Editor {
  const notify = (update: ViewUpdate) => {
    if (update.docChanged) options.onInput();
  };
  const shared = [extensions(options), EditorView.updateListener.of(notify)];
  const create = (doc: string) => EditorState.create({ doc, extensions: shared });
  const view = new EditorView({ parent, state: create(options.text) });
  const hidden = new Map<string, EditorState>();
  let shown = options.document;
  // “Go to line” is a form of its own: the form around the editor must not be submitted with it.
  view.dom.addEventListener("submit", (event) => event.stopPropagation());
  const tools = addTools(view, parent, options.label);
  return {
    text: () => view.state.doc.toString(),
    mark: (markers) => mark(view, markers),
    goTo: (line, column, end) => {
      const { doc } = view.state;
      const selection = EditorSelection.range(offsetOf(doc, line, column), offsetOf(doc, line, end));
      view.dispatch({ selection, effects: EditorView.scrollIntoView(selection, { y: "center" }) });
      view.focus();
    },
    show: (document, text) => {
      hidden.set(shown, view.state);
      const last = hidden.get(document);
      shown = document;
      view.setState(last?.doc.toString() === text ? last : create(text));
      applyWrapping(view);
    },
    replace: (text, step) => {
      const old = view.state.doc.toString();
      if (text === old) return;
      let from = 0;
      while (from < Math.min(old.length, text.length) && old[from] === text[from]) from += 1;
      let end = 0;
      const most = Math.min(old.length, text.length) - from;
      while (end < most && old.at(-1 - end) === text.at(-1 - end)) end += 1;
      view.dispatch({
        changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) },
        annotations: step === "own" ? isolateHistory.of("full") : [],
        userEvent: "input.type",
      });
    },
    focus: () => view.focus(),
    close: () => {
      tools.remove();
      view.destroy();
    },
  };
}

function extensions({ label, language, data }: Options): Extension {
  const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";
  return [
    EditorView.cspNonce.of(nonce),
    EditorState.phrases.of(PHRASES),
    // A scrollable region must contain a keyboard-focusable element; the explicit tabindex states that it does.
    EditorView.contentAttributes.of({ "aria-label": label, "aria-description": WAY_OUT, tabindex: "0" }),
    lineNumbers(),
    lintGutter(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    findBar(label),
    wrapping(),
    bracketMatching(),
    indentOnInput(),
    indentUnit.of("  "),
    syntaxHighlighting(colours),
    languageOf(language, data),
    keymap.of([...OUR_KEYS, ...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap, indentWithTab]),
    look,
  ];
}
