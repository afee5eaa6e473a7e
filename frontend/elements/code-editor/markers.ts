// Places with a message: underlined, marked beside the line, and listed by Ctrl+Shift+M.

import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";

export interface Marker {
  /** From 1. */
  line: number;
  /** In characters, from 1. */
  column: number;
  /** In characters. */
  length: number;
  message: string;
  severity: "error" | "warning";
}

/** Shows these and no others. */
export function mark(view: EditorView, markers: Marker[]) {
  const { doc } = view.state;
  const diagnostics = markers.map(({ line, column, length, message, severity }): Diagnostic => {
    const from = offsetOf(doc, line, column);
    return { from, to: Math.max(from, offsetOf(doc, line, column + length)), message, severity };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

/** Where a place is in the text as it stands, which may have changed since the place was found. */
export function offsetOf(doc: Text, line: number, column: number): number {
  const { from, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const before = Array.from(text).slice(0, Math.max(column - 1, 0));
  return from + before.join("").length;
}
