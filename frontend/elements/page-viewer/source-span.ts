// The part of a line of the template that printed a word: a word that is unique in the line, or else an expression.

import { partsOf } from "../code-editor/scan.ts";

/** Part of a line, in UTF-16 units, from 0. */
export interface Span {
  from: number;
  to: number;
}

/** What a line of the template made. */
export interface Source {
  /** From 1. */
  line: number;
  /** Words in a row, as they are compared. */
  words: readonly string[];
  /** The index of one of them. */
  at: number;
}

const COMMENTS = /<!--.*?-->/gs;
const HTML_TAGS = /<\/?[a-z](?:"[^"]*"|'[^']*'|[^'"<>])*>/gi;

/** Returns the part that made a word, or `undefined` if more than one may have made it. `plain` makes words comparable. */
export function spanOf(
  template: string,
  { line, words, at }: Source,
  plain: (word: string) => string,
): Span | undefined {
  const start = template.split("\n", line - 1).reduce((length, { length: next }) => length + next + 1, 0);
  const end = start + (template.slice(start).split("\n", 1)[0] ?? "").length;
  const parts = partsOf(template);
  let text = "";
  for (const { from, to } of parts) text += template.slice(text.length, from) + blank(template.slice(from, to));
  text = (text + template.slice(text.length)).replace(COMMENTS, blank);
  const attributes = Array.from(text.matchAll(HTML_TAGS), ({ index, 0: tag }) => [index, index + tag.length] as const);
  const expressions = parts
    .filter(({ kind, from }) => kind === "expression" && start <= from && from < end)
    .filter(({ from }) => !attributes.some(([first, last]) => first <= from && from < last))
    .map(({ from, to }): Span => ({ from: from - start, to: Math.min(to, end) - start }));
  const found = text.replace(HTML_TAGS, blank).slice(start, end).matchAll(/\S+/g);
  const literals = Array.from(found, ({ index, 0: word }) => ({
    word: plain(word),
    from: index,
    to: index + word.length,
  }));
  const written = (word: string) => literals.filter((literal) => literal.word === word);
  const unique = (word: string): Span | undefined => (written(word).length === 1 ? written(word)[0] : undefined);
  const clicked = written(words[at]!);
  if (clicked.length > 0) return clicked.length === 1 ? clicked[0] : undefined;
  if (expressions.length < 2) return expressions[0];
  return between(expressions, words.map(unique), at);
}

/** Returns the expression between the nearest words on both sides that are known, if it is the only one, or one of many. */
function between(expressions: readonly Span[], known: readonly (Span | undefined)[], at: number): Span | undefined {
  const before = known.slice(0, at).findLastIndex((span) => span);
  const next = known.slice(at).findIndex((span) => span);
  const after = next < 0 ? known.length : at + next;
  const [from, to] = [known[before]?.to ?? 0, known[after]?.from ?? Infinity];
  const candidates = expressions.filter((span) => from <= span.from && span.to <= to);
  // Each has printed one word.
  if (candidates.length === after - before - 1) return candidates[at - before - 1];
  return candidates.length === 1 ? candidates[0] : undefined;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}
