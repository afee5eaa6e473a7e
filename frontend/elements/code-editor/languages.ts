// The languages of the editor: templates (HTML with Jinja) and their data (JSON).

import { html } from "@codemirror/lang-html";
import { jinja } from "@codemirror/lang-jinja";
import { json } from "@codemirror/lang-json";
import type { Extension } from "@codemirror/state";

export type Language = "json" | "template";

/** Returns the CodeMirror extension that parses and highlights a language. */
export function languageOf(language: Language): Extension {
  return language === "json" ? json() : jinja({ base: html({ matchClosingTags: false }) });
}
