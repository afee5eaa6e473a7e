// The sheet of keyboard shortcuts.

import { IS_APPLE } from "../platform.ts";
import { button, element } from "./dom.ts";

/** Actions with their shortcuts, as CodeMirror names keys. */
const SHORTCUTS: [string, string[]][] = [
  ["Complete", [IS_APPLE ? "Ctrl-Space" : "Mod-Space"]],
  ["Accept a completion", ["Tab", "Enter"]],
  ["Find and replace", ["Mod-F"]],
  ["Next match", ["Mod-G", "F3"]],
  ["Previous match", ["Mod-Shift-G", "Shift-F3"]],
  ["Go to line", ["Mod-Alt-G"]],
  ["Select the next occurrence", ["Mod-D"]],
  ["Next error or warning", ["F8"]],
  ["List errors and warnings", ["Mod-Shift-M"]],
  ["Indent", ["Tab"]],
  ["Unindent", ["Shift-Tab"]],
  ["Leave the editor", ["Escape", "Tab"]],
  ["Comment", ["Mod-/"]],
  ["Move the line", ["Alt-↑", "Alt-↓"]],
  ["Copy the line", ["Shift-Alt-↑", "Shift-Alt-↓"]],
  ["Delete the line", ["Mod-Shift-K"]],
  ["Tidy", ["Shift-Alt-F"]],
  ["Undo", ["Mod-Z"]],
  ["Redo", [IS_APPLE ? "Mod-Shift-Z" : "Mod-Y"]],
  ["Wrap lines", ["Alt-Z"]],
  ["Show the line in the preview", ["Alt-P"]],
  ["Zoom in or out", ["Alt-+", "Alt-−"]],
  ["Show pages in their true size", ["Alt-0"]],
  ["Keyboard shortcuts", ["F1"]],
];

/** Opens the sheet. */
export function showShortcuts(): boolean {
  const title = element("h2", "dialog__title", "Keyboard shortcuts");
  title.id = "editor-shortcuts-title";
  const list = element("dl", "shortcuts");
  for (const [action, keys] of SHORTCUTS) {
    const separator = action === "Leave the editor" ? ", then " : " or ";
    const shown = keys.flatMap((key, at) => {
      const shown = element("kbd", "", keyName(key));
      return at === 0 ? [shown] : [separator, shown];
    });
    list.append(element("div", "shortcuts__item", element("dt", "", action), element("dd", "", ...shown)));
  }
  const body = element("div", "dialog__body", list);
  // Scrolled by keyboard.
  body.tabIndex = 0;
  const close = button("close", "Close", () => dialog.close());
  const dialog = element("dialog", "dialog", element("div", "dialog__head", title, close), body);
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return true;
}

/** Returns keys as the visitor's keyboard names them. */
export function keyName(keys: string): string {
  const names = keys.split("-").map((key) => {
    if (key === "Mod") return IS_APPLE ? "⌘" : "Ctrl";
    if (IS_APPLE) return { Alt: "⌥", Shift: "⇧", Ctrl: "⌃" }[key] ?? key;
    return key === "Escape" ? "Esc" : key;
  });
  return names.join(IS_APPLE ? "" : "+");
}
