// Starts what is live in a page: elements of ours, and the islands of the module.

import "./elements/code-editor.ts";
import "./elements/live-part.ts";
import "./elements/local-time.ts";
import "./elements/passkey-button.ts";
import "./forms.ts";

// What wasm-bindgen has written; see build.mjs.
import * as module from "platen-module";

/** What an island holds of the page; set by Leptos. */
type Children = HTMLElement & { $$on_hydrate?: () => void };

/** What an island's function is called in the module, by its name in the page. */
const islands = module as unknown as Record<string, ((element: Element) => void) | undefined>;

/** Loads the module from what was fetched, and takes the islands of the page over, those outside first. */
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
    // An island inside another one finds what the other one provides.
    element.closest<Children>("leptos-children")?.$$on_hydrate?.();
    takeOver(element);
  }
  // From now on everything in the page answers.
  document.documentElement.dataset.hydrated = "";
}
