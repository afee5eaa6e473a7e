// The languages of the editor: templates (HTML with Jinja) and their data (JSON).

import { html } from "@codemirror/lang-html";
import { json } from "@codemirror/lang-json";
import type { Extension } from "@codemirror/state";

import { closingTags } from "./closing-tags.ts";
import { completion, templateCompletion } from "./completion.ts";
import { hover } from "./hover.ts";
import { indentation } from "./indentation.ts";
import { reader, sampleData } from "./sample-data.ts";
import { templateLanguage } from "./template-parser.ts";

export type Language = "json" | "template";

/**
 * Returns the CodeMirror extensions that parse, highlight, complete and explain a language. `data` returns the sample
 * data of a template as JSON.
 */
export function languageOf(language: Language, data: (() => string) | undefined): Extension {
  if (language === "json") return json();
  const base = html({ autoCloseTags: false, matchClosingTags: false });
  const syntax = [templateLanguage(base.language), base.support, closingTags(), indentation(), completion()];
  return data ? [syntax, sampleData.of(reader(data)), templateCompletion(), hover()] : syntax;
}
