// The languages of the editor: templates (HTML with Jinja) and their data (JSON).

import { html } from "@codemirror/lang-html";
import { closePercentBrace, jinja } from "@codemirror/lang-jinja";
import { json } from "@codemirror/lang-json";
import type { Extension } from "@codemirror/state";

import { completion } from "./completion.ts";
import { hover } from "./hover.ts";
import { reader, sampleData } from "./sample-data.ts";

export type Language = "json" | "template";

/**
 * Returns the CodeMirror extensions that parse, highlight, complete and explain a language. `data` returns the sample
 * data of a template as JSON, if there is any.
 */
export function languageOf(language: Language, data: () => string | undefined): Extension {
  if (language === "json") return json();
  const base = html({ matchClosingTags: false });
  // Without the completion of the package, which lists everything that Jinja has.
  const names = sampleData.of(reader(data));
  return [jinja({ base }).language, base.support, closePercentBrace, names, completion(), hover()];
}
