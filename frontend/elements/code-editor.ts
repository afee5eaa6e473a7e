// `<code-editor label="HTML" language="template">` around a `<textarea>`: lines, colours, search and marks for those who
// write. Without script the textarea is all there is; with it, it still is what a form sends.

import type { Editor } from "./code-editor/editor.ts";
import type { Marker } from "./code-editor/markers.ts";

/** The editor itself is large, so it is loaded by pages that hold one. */
const load = () => import("./code-editor/editor.ts");

/**
 * Attributes: `label`, what it is called by those who can't see it; `language`, `template` or `json`; `markers`, places
 * with a message as JSON (see markers.ts); `go-to`, where to take the person: `36:5` is line and column.
 *
 * The textarea always holds the text. It sends `input` when the person changes it.
 */
class CodeEditor extends HTMLElement {
  static observedAttributes = ["go-to", "markers"];

  private editor: Editor | undefined;

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

  private async upgrade() {
    const textarea = this.querySelector<HTMLTextAreaElement>(":scope > textarea");
    if (!textarea) return;
    const { open } = await load();
    if (!this.isConnected || this.editor) return;
    const hadFocus = document.activeElement === textarea;
    const editor = open(this, {
      text: textarea.value,
      label: this.getAttribute("label") ?? "",
      language: this.getAttribute("language") === "json" ? "json" : "template",
      onInput: () => {
        textarea.value = editor.text();
        textarea.dispatchEvent(new InputEvent("input", { bubbles: true }));
      },
    });
    this.editor = editor;
    textarea.hidden = true;
    this.mark();
    if (hadFocus) editor.focus();
  }

  private mark() {
    const markers = this.getAttribute("markers");
    if (markers !== null) this.editor?.mark(JSON.parse(markers) as Marker[]);
  }

  private go() {
    const [line, column] = (this.getAttribute("go-to") ?? "").split(":").map(Number);
    if (line && column) this.editor?.goTo(line, column);
  }
}

customElements.define("code-editor", CodeEditor);
