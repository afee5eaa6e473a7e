// The languages of the editor: templates (HTML with Jinja) and their data (JSON).

import { html } from "@codemirror/lang-html";
import { closePercentBrace, jinja } from "@codemirror/lang-jinja";
import { json } from "@codemirror/lang-json";
import type { Extension } from "@codemirror/state";

import { completion, templateCompletion } from "./completion.ts";
import { hover } from "./hover.ts";
import { reader, sampleData } from "./sample-data.ts";

export type Language = "json" | "template";

/**
 * Returns the CodeMirror extensions that parse, highlight, complete and explain a language. `data` returns the sample
 * data of a template as JSON.
 */
export function languageOf(language: Language, data: (() => string) | undefined): Extension {
  if (language === "json") return json();
  const base = html({ matchClosingTags: false });
  // Without the completion of the package, which lists everything that Jinja has.
  const syntax = [jinja({ base }).language, base.support, closePercentBrace, completion()];
  return data ? [syntax, sampleData.of(reader(data)), templateCompletion(), hover()] : syntax;
}
