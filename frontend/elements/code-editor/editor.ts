// The editor: CodeMirror, configured for templates and their data.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
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
import { showShortcuts } from "./shortcuts.ts";
import { addTools } from "./tools.ts";
import { toggleWrapping, wrapping } from "./wrapping.ts";

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
];

export interface Options {
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
  goTo(line: number, column: number): void;
  focus(): void;
  close(): void;
}

/** Creates an editor in an element. */
export function open(parent: HTMLElement, options: Options): Editor {
  const notify = (update: ViewUpdate) => {
    if (update.docChanged) options.onInput();
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [extensions(options), EditorView.updateListener.of(notify)],
    }),
  });
  // “Go to line” is a form of its own: the form around the editor must not be submitted with it.
  view.dom.addEventListener("submit", (event) => event.stopPropagation());
  const tools = addTools(view, parent, options.label);
  return {
    text: () => view.state.doc.toString(),
    mark: (markers) => mark(view, markers),
    goTo: (line, column) => {
      const offset = offsetOf(view.state.doc, line, column);
      view.dispatch({ selection: { anchor: offset }, effects: EditorView.scrollIntoView(offset, { y: "center" }) });
      view.focus();
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
