// What is at a position in a template.

import { isTest, pathAt, uses, type Path } from "./paths.ts";
import { Scope } from "./scope.ts";
import { tagsOf, type Tag, type Token } from "./scan.ts";

/** What a word at the end of a tag's text is. */
export type Expected =
  | { kind: "tag" | "filter" | "test" | "value" | "operator" }
  /** A member of the value of a path. */
  | { kind: "member"; of: Path };

/** Keywords of statements that an expression follows. */
const VALUES_FOLLOW = new Set(["autoescape", "call", "do", "elif", "if"]);

/** The tag at an offset, and the names there. */
export interface Place {
  tag: Tag;
  scope: Scope;
}

/** Returns the tag that contains an offset between its braces. */
export function placeAt(template: string, offset: number, data: unknown): Place | undefined {
  const scope = new Scope(data);
  for (const tag of tagsOf(template)) {
    if (tag.contentFrom > offset) return undefined;
    if (offset <= tag.contentTo) {
      // The condition of a loop knows the names of the loop.
      const condition = tag.tokens.find(({ kind, text }) => kind === "name" && text === "if");
      if (tag.tokens[0]?.text === "for" && condition && condition.to < offset) scope.pass(tag);
      return { tag, scope };
    }
    scope.pass(tag);
  }
  return undefined;
}

/** Returns what may follow the tokens before an offset. Returns `undefined` where a name is defined. */
export function expectedAt(tag: Tag, offset: number): Expected | undefined {
  const tokens = tag.tokens.filter(({ to }) => to <= offset);
  const before = tokens.at(-1);
  const isStatement = tag.kind === "statement";
  if (!before) return { kind: isStatement ? "tag" : "value" };
  const keyword = isStatement ? tokens[0]!.text : "";
  if (before.kind === "sign") {
    if (before.text === "|") return { kind: "filter" };
    if (before.text === ".") {
      const path = pathBefore(tokens);
      return path && { kind: "member", of: path };
    }
    if (definesNames(keyword, tokens)) return undefined;
    return { kind: ")]}".includes(before.text) ? "operator" : "value" };
  }
  if (keyword === "filter" && tokens.length === 1) return { kind: "filter" };
  if (isTest(tokens, tokens.length)) return { kind: "test" };
  if (definesNames(keyword, tokens)) return undefined;
  if (isStatement && tokens.length === 1) return VALUES_FOLLOW.has(keyword) ? { kind: "value" } : undefined;
  const expectsValue = ["and", "or", "not", "in", "if", "else"].includes(before.text);
  return { kind: before.kind === "name" && expectsValue ? "value" : "operator" };
}

/** Returns whether the last token of a statement is in the part that defines names. */
function definesNames(keyword: string, tokens: readonly Token[]): boolean {
  const has = (word: string) => tokens.some(({ kind, text }) => kind !== "text" && text === word);
  switch (keyword) {
    case "for":
      return !has("in");
    case "set":
      return !has("=");
    case "with":
      return tokens.at(-1)?.text === "," || tokens.length === 1;
    case "macro":
      return tokens.at(-1)?.text !== "=";
    case "block":
      return true;
    default:
      return false;
  }
}

/** Returns the path that ends at the dot which is the last token. */
function pathBefore(tokens: readonly Token[]): Path | undefined {
  for (const [at, { kind }] of tokens.entries()) {
    if (kind !== "name" || (at > 0 && [".", "|"].includes(tokens[at - 1]!.text))) continue;
    const path = pathAt(tokens, at);
    if (path.next === tokens.length - 1) return path;
  }
  return undefined;
}

/** Returns the path through an offset, up to the segment there. */
export function pathThrough(tag: Tag, offset: number): Path | undefined {
  for (const at of uses(tag)) {
    const { segments, next } = pathAt(tag.tokens, at);
    const found = segments.findIndex(({ kind, from, to }) => kind !== "call" && from <= offset && offset <= to);
    if (found >= 0) return { segments: segments.slice(0, found + 1), next };
  }
  return undefined;
}
