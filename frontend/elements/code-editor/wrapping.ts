// Line wrapping, which the browser remembers for all editors.

import { Compartment, type Extension } from "@codemirror/state";
import { EditorView, ViewPlugin } from "@codemirror/view";

import { recall, remember } from "../remembered.ts";

const SETTING = "editor-wrap";
const compartment = new Compartment();
const views = new Set<EditorView>();
const listeners = new WeakMap<EditorView, (wraps: boolean) => void>();

/** Returns the extension that wraps lines if the browser remembers so. */
export function wrapping(): Extension {
  const open = ViewPlugin.define((view) => {
    views.add(view);
    return { destroy: () => void views.delete(view) };
  });
  return [open, compartment.of(lineWrapping(isWrapping()))];
}

/** Calls a function now and whenever wrapping is turned on or off. */
export function onWrapping(view: EditorView, listener: (wraps: boolean) => void) {
  listeners.set(view, listener);
  listener(isWrapping());
}

/** Turns wrapping on or off in all editors. */
export function toggleWrapping(): boolean {
  const wraps = !isWrapping();
  remember(SETTING, wraps ? "on" : "off");
  for (const view of views) {
    view.dispatch({ effects: compartment.reconfigure(lineWrapping(wraps)) });
    listeners.get(view)?.(wraps);
  }
  return true;
}

/** Wraps the lines of a document that has become visible as those of others. */
export function applyWrapping(view: EditorView) {
  view.dispatch({ effects: compartment.reconfigure(lineWrapping(isWrapping())) });
}

function isWrapping(): boolean {
  return recall(SETTING) === "on";
}

function lineWrapping(wraps: boolean): Extension {
  return wraps ? EditorView.lineWrapping : [];
}
