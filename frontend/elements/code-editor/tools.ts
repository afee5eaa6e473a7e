// The buttons of an editor: in the bar of its pane, or else above its text.

import { openSearchPanel } from "@codemirror/search";
import type { EditorView } from "@codemirror/view";

import { button, element } from "./dom.ts";
import { hasPreview, isTemplate, showInPreview } from "./preview.ts";
import { keyName, showShortcuts } from "./shortcuts.ts";
import { tidyTemplate } from "./tidying.ts";
import { onWrapping, toggleWrapping } from "./wrapping.ts";

/** Adds the buttons, and returns them. */
export function addTools(view: EditorView, parent: HTMLElement, label: string): HTMLElement {
  const wrap = button("wrap", `Wrap lines (${keyName("Alt-Z")})`, toggleWrapping);
  onWrapping(view, (wraps) => wrap.setAttribute("aria-pressed", String(wraps)));
  const find = button("find", `Find (${keyName("Mod-F")})`, () => openSearchPanel(view));
  const help = button("help", "Keyboard shortcuts (F1)", showShortcuts);
  const ours = [];
  if (isTemplate(view))
    ours.push(button({ text: "Tidy" }, `Tidy (${keyName("Shift-Alt-F")})`, () => tidyTemplate(view)));
  if (hasPreview(view)) ours.push(button("locate", `Show in preview (${keyName("Alt-P")})`, () => showInPreview(view)));
  const tools = element("div", "editor-tools", ...ours, find, wrap, help);
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", `${label}: tools`);
  // A pane with several fields shows the tools of the visible one.
  tools.dataset.field = parent.querySelector("textarea")?.name;
  const bar = parent.closest(".pane")?.querySelector(".pane__bar");
  if (bar) bar.append(tools);
  else parent.prepend(tools);
  return tools;
}
