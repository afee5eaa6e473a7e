// Starts the interactive parts of a page: our custom elements, and the islands of the WebAssembly module.

import "./elements/code-editor.ts";
import "./elements/command-palette.ts";
import "./elements/live-part.ts";
import "./elements/local-time.ts";
import "./elements/page-comparison.ts";
import "./elements/page-viewer.ts";
import "./elements/pane-splitter.ts";
import "./elements/passkey-button.ts";
import "./elements/password-field.ts";
import "./elements/sample-sets.ts";
import "./dialogs.ts";
import "./filters.ts";
import "./forms.ts";
import "./titles.ts";

// The output of wasm-bindgen; see build.mjs.
import * as module from "platen-module";

/** The children of an island. The hook is set by Leptos. */
type Children = HTMLElement & { $$on_hydrate?: () => void };

/** The hydration functions that the module exports, by island name. */
const islands = module as unknown as Record<string, ((element: Element) => void) | undefined>;

/** Instantiates the module from the response, and hydrates the islands of the page, outer ones first. */
export async function start(module_or_path: Promise<Response>): Promise<void> {
  await module.default({ module_or_path });
  module.hydrate();
  for (const element of document.querySelectorAll<HTMLElement>("leptos-island")) {
    const name = element.dataset.component ?? "";
    const takeOver = islands[name];
    if (!takeOver) {
      console.error(`the module has no island ${name}`);
      continue;
    }
    // Provides the context of the surrounding island.
    element.closest<Children>("leptos-children")?.$$on_hydrate?.();
    takeOver(element);
  }
  // All islands are interactive now.
  document.documentElement.dataset.hydrated = "";
}
