// `<code-editor label="HTML" language="template">` around a `<textarea>`: an editor with line numbers, syntax
// highlighting, completion, search and markers. Without JavaScript, only the textarea is shown; with it, the textarea is still the
// form field that is submitted.

import type { Editor } from "./code-editor/editor.ts";
import type { Marker } from "./code-editor/markers.ts";

/** Loads the editor on demand: it is large, and only a few pages contain one. */
const load = () => import("./code-editor/editor.ts");

/**
 * Attributes: `label`, the accessible name; `language`, `template` or `json`; `markers`, positions with messages as
 * JSON (see markers.ts); `go-to`, the position to move the cursor to, as line and column, `36:5`, or the columns before
 * and after the characters to select, `36:5-12`.
 *
 * The address of the page may name a line of the field `content`: `#line-36`.
 *
 * If the form has a field `data`, it contains the sample data of the template, whose names are completed.
 *
 * The textarea always contains the current text, and dispatches `input` when the user edits it.
 */
export class CodeEditor extends HTMLElement {
  static observedAttributes = ["go-to", "markers"];

  private editor: Editor | undefined;
  /** Name of the document that is shown. */
  private document = "";

  connectedCallback() {
    if (!this.editor) void this.upgrade();
  }

  disconnectedCallback() {
    this.editor?.close();
    this.editor = undefined;
  }

  attributeChangedCallback(name: string) {
    if (name === "markers") this.mark();
    else this.go();
  }

  /** Shows another document. Each has an undo history of its own. Nothing is reported as an input. */
  show(name: string, text: string) {
    this.document = name;
    this.editor?.show(name, text);
    const textarea = this.querySelector<HTMLTextAreaElement>(":scope > textarea");
    if (textarea) textarea.value = text;
  }

  /** Replaces the text, in one undo step or together with the changes before. */
  replace(text: string, step: "own" | "joined" = "own") {
    if (this.editor) return this.editor.replace(text, step);
    const textarea = this.querySelector<HTMLTextAreaElement>(":scope > textarea");
    if (!textarea) return;
    textarea.value = text;
    textarea.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }

  private async upgrade() {
    const textarea = this.querySelector<HTMLTextAreaElement>(":scope > textarea");
    if (!textarea) return;
    const { open } = await load();
    if (!this.isConnected || this.editor) return;
    const data = textarea.form?.querySelector<HTMLTextAreaElement>("textarea[name=data]");
    const hadFocus = document.activeElement === textarea;
    const editor = open(this, {
      document: this.document,
      text: textarea.value,
      label: this.getAttribute("label") ?? "",
      language: this.getAttribute("language") === "json" ? "json" : "template",
      data: data ? () => data.value : undefined,
      onInput: () => {
        textarea.value = editor.text();
        textarea.dispatchEvent(new InputEvent("input", { bubbles: true }));
      },
    });
    this.editor = editor;
    textarea.hidden = true;
    this.mark();
    this.go();
    const line = textarea.name === "content" && /^#line-(\d{1,6})$/.exec(location.hash)?.[1];
    if (line) {
      // On small screens, the field is one of several panes.
      const pane = textarea.form?.querySelector<HTMLInputElement>("input[name=pane][value=html]");
      if (pane) pane.checked = true;
      editor.goTo(Number(line), 1, 1);
    } else if (hadFocus) {
      editor.focus();
    }
  }

  private mark() {
    const markers = this.getAttribute("markers");
    if (markers !== null) this.editor?.mark(JSON.parse(markers) as Marker[]);
  }

  private go() {
    const place = /^(\d+):(\d+)(?:-(\d+))?$/.exec(this.getAttribute("go-to") ?? "");
    if (!place) return;
    const [line, column, end = column] = place.slice(1).map((part) => (part ? Number(part) : undefined));
    this.editor?.goTo(line!, column!, end!);
  }
}

customElements.define("code-editor", CodeEditor);
