// The command that tidies a template.

import { isolateHistory } from "@codemirror/commands";
import type { StateEffect } from "@codemirror/state";
import { EditorView, showDialog } from "@codemirror/view";

import { element } from "./dom.ts";
import { tidy, Untidy, type Change } from "./tidy.ts";

/** Effects that close the message of an editor. */
const closing = new WeakMap<EditorView, StateEffect<unknown>>();

/** Tidies the template in one step that can be undone, or says which line prevents it. */
export function tidyTemplate(view: EditorView): boolean {
  const { doc } = view.state;
  const close = closing.get(view);
  if (close) view.dispatch({ effects: close });
  let changes: Change[];
  try {
    changes = tidy(doc.toString());
  } catch (error) {
    if (!(error instanceof Untidy)) throw error;
    const { offset } = error;
    view.dispatch({ selection: { anchor: offset }, effects: EditorView.scrollIntoView(offset, { y: "center" }) });
    tell(view, `Not tidied, because of line ${doc.lineAt(offset).number}. ${error.message}.`);
    view.focus();
    return true;
  }
  if (changes.length === 0) tell(view, "This template is tidy already.");
  else view.dispatch({ changes, userEvent: "input.tidy", annotations: isolateHistory.of("full") });
  view.focus();
  return true;
}

function tell(view: EditorView, message: string) {
  const text = element("span", "", message);
  text.setAttribute("role", "alert");
  closing.set(view, showDialog(view, { content: () => element("form", "", text), top: true }).close);
}
