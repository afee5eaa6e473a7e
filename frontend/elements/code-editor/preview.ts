// The way from the editor to the preview beside it.

import type { EditorView } from "@codemirror/view";

/** Returns whether the editor contains a template, and not its data. */
export function isTemplate(view: EditorView): boolean {
  return view.dom.closest("code-editor")?.getAttribute("language") === "template";
}

/** Returns whether the template has a preview beside it. */
export function hasPreview(view: EditorView): boolean {
  return isTemplate(view) && view.dom.closest("form")?.querySelector("page-viewer") != null;
}

/** Asks the preview to show what the line at the cursor prints. */
export function showInPreview(view: EditorView): boolean {
  if (!hasPreview(view)) return false;
  const { number } = view.state.doc.lineAt(view.state.selection.main.head);
  view.dom.dispatchEvent(new CustomEvent("show-in-preview", { bubbles: true, detail: number }));
  return true;
}
