// Positions with a message: underlined, marked in the gutter, and listed by Ctrl+Shift+M.

import { setDiagnostics, type Action, type Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";

import { sampleData } from "./sample-data.ts";
import { suggestionsFor, type Suggestion } from "./suggestions.ts";

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

/** Replaces all markers of the editor, and adds suggestions for unknown names. */
export function mark(view: EditorView, markers: Marker[]) {
  const { doc } = view.state;
  const found = suggestionsFor(doc.toString(), view.state.facet(sampleData)());
  const suggestions = new Map(found.map((suggestion) => [suggestion.start, suggestion]));
  const diagnostics = markers.map(({ line, column, length, message, severity }): Diagnostic => {
    const from = offsetOf(doc, line, column);
    // The service knows where an unknown name begins, not where it ends.
    const word = view.state.wordAt(from);
    const to = Math.max(word?.from === from ? word.to : from, offsetOf(doc, line, column + length));
    const suggestion = suggestions.get(from);
    if (!suggestion) return { from, to, message, severity };
    suggestions.delete(from);
    return {
      from,
      to,
      message: `${message} ${question(suggestion)}`,
      severity,
      actions: [correction(suggestion, from)],
    };
  });
  // The service doesn't report names that are only tested, as in `{% if totl %}`.
  for (const suggestion of suggestions.values()) {
    const { from, to, name, of } = suggestion;
    const reason = of === "data" ? `${name} isn’t in the sample data.` : `There is no filter ${name}.`;
    const message = `${reason} ${question(suggestion)}`;
    diagnostics.push({ from, to, message, severity: "info", actions: [correction(suggestion, from)] });
  }
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

function question({ instead }: Suggestion): string {
  return `Did you mean “${instead}”?`;
}

/** Returns the action that replaces the unknown name. It keeps its distance from the beginning of the marker. */
function correction({ name, instead, from: written }: Suggestion, marked: number): Action {
  return {
    name: `Change to ${instead}`,
    apply: (view, from) => {
      const start = from + written - marked;
      const end = start + name.length;
      if (view.state.sliceDoc(start, end) !== name) return;
      const selection = { anchor: start + instead.length };
      view.dispatch({ changes: { from: start, to: end, insert: instead }, selection, userEvent: "input.correct" });
      view.focus();
    },
  };
}

/** Returns the offset of a position, clamped to the current text, which may have changed since. */
export function offsetOf(doc: Text, line: number, column: number): number {
  const { from, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const before = Array.from(text).slice(0, Math.max(column - 1, 0));
  return from + before.join("").length;
}
