// Paths in expressions: `customer.address.city`, `lines[0]['price']`.

import type { Tag, Token } from "./scan.ts";

export interface Path {
  /** The first one is a name. */
  segments: Segment[];
  /** Number of the token after the path. */
  next: number;
}

export interface Segment {
  kind: "name" | "index" | "call" | "other";
  /** Of a name. */
  name: string;
  /** Of an index. */
  index: number;
  /** Arguments of a call. */
  args: Token[];
  /** Where a name or an index is written. */
  from: number;
  to: number;
}

/** Words of expressions that are constants, and other words that are no names of values. */
export const CONSTANTS = new Set("true false none True False None".split(" "));
export const KEYWORDS = new Set("and or not in is if else recursive ignore missing".split(" "));

/** Returns the path that begins at a token, which is a name. */
export function pathAt(tokens: readonly Token[], start: number): Path {
  const first = tokens[start]!;
  const segments = [segment("name", first, { name: first.text })];
  let next = start + 1;
  for (;;) {
    const [sign, inner, after] = [tokens[next], tokens[next + 1], tokens[next + 2]];
    if (sign?.kind !== "sign") break;
    if (sign.text === "." && inner?.kind === "name") {
      segments.push(segment("name", inner, { name: inner.text }));
      next += 2;
    } else if (sign.text === "." && inner?.kind === "number") {
      segments.push(segment("index", inner, { index: Number(inner.text) }));
      next += 2;
    } else if (sign.text === "[" && after?.text === "]" && inner?.kind === "text") {
      segments.push(segment("name", inner, { name: inner.text }));
      next += 3;
    } else if (sign.text === "[" && after?.text === "]" && inner?.kind === "number") {
      segments.push(segment("index", inner, { index: Number(inner.text) }));
      next += 3;
    } else if (sign.text === "[" || sign.text === "(") {
      const end = closing(tokens, next);
      const args = tokens.slice(next + 1, end);
      segments.push(segment(sign.text === "(" ? "call" : "other", sign, { args }));
      next = end + 1;
    } else {
      break;
    }
  }
  return { segments, next: Math.min(next, tokens.length) };
}

/** Returns the number of the token that closes a bracket, or the number of tokens if none does. */
export function closing(tokens: readonly Token[], start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at]!;
    if (kind !== "sign") continue;
    if ("([{".includes(text)) depth += 1;
    if (")]}".includes(text)) depth -= 1;
    if (depth === 0) return at;
  }
  return tokens.length;
}

/** Returns the numbers of the tokens at which a tag refers to a value by its name. */
export function uses(tag: Tag): number[] {
  const { tokens } = tag;
  const first = firstExpression(tag);
  return tokens.flatMap((token, at) => {
    if (at < first || token.kind !== "name" || CONSTANTS.has(token.text) || KEYWORDS.has(token.text)) return [];
    const [before, after] = [tokens[at - 1], tokens[at + 1]];
    const isMember = before?.kind === "sign" && (before.text === "." || before.text === "|");
    const isArgument = after?.kind === "sign" && after.text === "=";
    const isParameter = tokens[0]?.text === "macro" && (before?.text === "(" || before?.text === ",");
    return isMember || isArgument || isParameter || isTest(tokens, at) ? [] : [at];
  });
}

/** Returns the number of the first token of a tag that isn't a keyword or a new name. */
export function firstExpression({ kind, tokens }: Tag): number {
  if (kind === "expression") return 0;
  const find = (text: string) => {
    const at = tokens.findIndex((token) => token.text === text && token.kind !== "text");
    return at < 0 ? tokens.length : at + 1;
  };
  switch (tokens[0]?.text) {
    case "for":
      return find("in");
    case "set":
      return find("=");
    case "block":
      return tokens.length;
    case "filter":
      return 2;
    case "macro":
      return find("(");
    case "call":
      return tokens[1]?.text === "(" ? closing(tokens, 1) + 1 : 1;
    default:
      return 1;
  }
}

/** Returns whether a token is the name of a test: `is defined`, `is not defined`. */
export function isTest(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1]?.text === "not" ? at - 2 : at - 1;
  return tokens[before]?.kind === "name" && tokens[before].text === "is";
}

function segment(kind: Segment["kind"], { from, to }: Token, of: Partial<Segment>): Segment {
  return { kind, name: "", index: 0, args: [], from, to, ...of };
}
