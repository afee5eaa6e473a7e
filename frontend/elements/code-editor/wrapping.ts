// Line wrapping, which the browser remembers for all editors.

import { Compartment, type Extension } from "@codemirror/state";
import { EditorView, ViewPlugin } from "@codemirror/view";

const KEY = "platen-editor-wrap";
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
  remember(wraps);
  for (const view of views) {
    view.dispatch({ effects: compartment.reconfigure(lineWrapping(wraps)) });
    listeners.get(view)?.(wraps);
  }
  return true;
}

/** What counts while the browser stores nothing. */
let current = false;

function isWrapping(): boolean {
  try {
    return localStorage.getItem(KEY) === "on";
  } catch {
    return current;
  }
}

function remember(wraps: boolean) {
  current = wraps;
  try {
    localStorage.setItem(KEY, wraps ? "on" : "off");
  } catch {
    // Storage is disabled.
  }
}

function lineWrapping(wraps: boolean): Extension {
  return wraps ? EditorView.lineWrapping : [];
}
