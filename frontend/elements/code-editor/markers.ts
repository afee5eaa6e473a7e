// Positions with a message: underlined, marked in the gutter, and listed by Ctrl+Shift+M.

import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";

export interface Marker {
  /** 1-based. */
  line: number;
  /** In characters, 1-based. */
  column: number;
  /** In characters. */
  length: number;
  message: string;
  severity: "error" | "warning";
}

/** Replaces all markers of the editor. */
export function mark(view: EditorView, markers: Marker[]) {
  const { doc } = view.state;
  const diagnostics = markers.map(({ line, column, length, message, severity }): Diagnostic => {
    const from = offsetOf(doc, line, column);
    return { from, to: Math.max(from, offsetOf(doc, line, column + length)), message, severity };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

/** Returns the offset of a position, clamped to the current text, which may have changed since. */
export function offsetOf(doc: Text, line: number, column: number): number {
  const { from, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const before = Array.from(text).slice(0, Math.max(column - 1, 0));
  return from + before.join("").length;
}
