// The editor's theme. It uses only the style sheet's tokens, so that it follows the light and the dark theme.

import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The same colours as those of code snippets (`tok-…`). */
export const colours = HighlightStyle.define([
  { tag: [tags.tagName, tags.keyword, tags.controlKeyword, tags.definitionKeyword], color: "var(--code-tag)" },
  { tag: [tags.attributeName, tags.propertyName, tags.typeName, tags.className], color: "var(--code-key)" },
  { tag: [tags.string, tags.attributeValue, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.unit, tags.color], color: "var(--code-number)" },
  { tag: [tags.variableName, tags.brace, tags.special(tags.brace)], color: "var(--code-var)" },
  { tag: [tags.comment, tags.meta, tags.documentMeta, tags.processingInstruction], color: "var(--code-note)" },
]);

export const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--sheet)", fontSize: "var(--text-xs)", blockSize: "100%" },
  "&.cm-focused": { outline: "var(--line-heavy) solid var(--spot)", outlineOffset: "calc(-1 * var(--line-heavy))" },
  ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--spot)" },
  ".cm-cursor": { borderInlineStart: "var(--line-heavy) solid var(--spot)" },
  ".cm-gutters": {
    color: "var(--ink-3)",
    backgroundColor: "var(--sheet)",
    borderInlineEnd: "var(--line) solid var(--rule)",
  },
  ".cm-lineNumbers .cm-gutterElement": { minInlineSize: "var(--space-8)", paddingInline: "var(--space-2)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--tint-1) 60%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--tint-2)",
  },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--warn-tint)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--tint-2)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--tint-2)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-tint)" },
  ".cm-panels": { color: "var(--ink)", backgroundColor: "var(--inset)" },
  ".cm-panels-top": { borderBlockEnd: "var(--line) solid var(--rule)" },
  ".cm-panels-bottom": { borderBlockStart: "var(--line) solid var(--rule)" },
  ".cm-panel.cm-search": { padding: "var(--space-2) var(--space-3)", fontFamily: "var(--font-text)" },
  ".cm-panel.cm-search label": { fontSize: "var(--text-xs)" },
  ".cm-textfield, .cm-button": {
    color: "var(--ink)",
    fontSize: "var(--text-xs)",
    border: "var(--line) solid var(--rule-strong)",
    borderRadius: "var(--corner)",
    backgroundColor: "var(--sheet)",
    backgroundImage: "none",
    minBlockSize: "24px",
  },
  ".cm-panel button[name=close]": { color: "var(--ink)", fontSize: "var(--text-m)", minInlineSize: "24px" },
  ".cm-tooltip": {
    color: "var(--ink)",
    backgroundColor: "var(--sheet)",
    border: "var(--line) solid var(--rule-strong)",
  },
  ".cm-tooltip .cm-diagnostic": { fontFamily: "var(--font-text)", fontSize: "var(--text-xs)" },
  ".cm-diagnostic-error": { borderInlineStart: "var(--edge) solid var(--bad)" },
  ".cm-diagnostic-warning": { borderInlineStart: "var(--edge) solid var(--warn)" },
  ".cm-lintRange": { textDecorationLine: "underline", textDecorationStyle: "wavy", textUnderlineOffset: "0.25em" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecorationColor: "var(--bad)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecorationColor: "var(--warn)" },
  ".cm-lint-marker": { inlineSize: "0.7em", blockSize: "0.7em", marginBlockStart: "0.45em" },
  ".cm-lint-marker-error, .cm-lint-marker-warning": { content: "none" },
  ".cm-lint-marker-error": { backgroundColor: "var(--bad)", borderRadius: "50%" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--warn)", clipPath: "polygon(50% 0, 100% 100%, 0 100%)" },
});
