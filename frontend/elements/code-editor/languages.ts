// What is written: templates (HTML with Jinja in it), and the data that fills them.

import { html } from "@codemirror/lang-html";
import { jinja } from "@codemirror/lang-jinja";
import { json } from "@codemirror/lang-json";
import type { Extension } from "@codemirror/state";

export type Language = "json" | "template";

/** How a language is read. */
export function languageOf(language: Language): Extension {
  return language === "json" ? json() : jinja({ base: html({ matchClosingTags: false }) });
}
