// The names that a template defines, and what expressions are with the sample data.

import { closing, firstExpression, pathAt, type Segment } from "./paths.ts";
import { type Samples, isObject, itemOf, itemsOf, memberOf, membersOf } from "./sample-data.ts";
import type { Tag, Token } from "./scan.ts";

/** A block whose end tag has not come yet. */
export interface Block {
  keyword: string;
  from: number;
  /** The names that are defined in it. */
  names: Map<string, Samples>;
}

/** Statements with an end tag. `set` has one only without an assignment; `raw` has no content. */
const PAIRED = new Set("autoescape block call filter for if macro set with".split(" "));
/** Blocks whose names end with them. */
const SCOPES = new Set("block call for macro with".split(" "));
/** Words of imports that aren't names. */
const IMPORT_WORDS = new Set("as context import with without".split(" "));

/** What `loop` is: its members are documented rather than sampled. */
export const LOOP = {};

/** Returns whether a statement begins a block, which an end tag closes. */
export function opensBlock({ tokens }: Tag): boolean {
  const keyword = tokens[0]?.text ?? "";
  if (keyword === "set" && tokens.some(({ kind, text }) => kind === "sign" && text === "=")) return false;
  return PAIRED.has(keyword);
}

/** The names at one place in a template. */
export class Scope {
  /** Open blocks, inner ones last. */
  readonly blocks: Block[] = [];
  private readonly names = new Map<string, Samples>();

  constructor(readonly data: unknown) {}

  /** Returns what a name is, or `undefined` if neither the template nor the data defines it. */
  find(name: string): Samples | undefined {
    for (const { names } of this.blocks.toReversed()) {
      if (names.has(name)) return names.get(name);
    }
    if (this.names.has(name)) return this.names.get(name);
    return isObject(this.data) && Object.hasOwn(this.data, name) ? [this.data[name]] : undefined;
  }

  /** Returns the names that the template defines. */
  defined(): Map<string, Samples> {
    return new Map([this.names, ...this.blocks.map(({ names }) => names)].flatMap((names) => [...names]));
  }

  /** Returns the names of the data. */
  members(): Map<string, unknown> {
    return membersOf([this.data]);
  }

  /** Returns what the first segments of a path are. */
  resolve(segments: readonly Segment[]): Samples {
    const [first, ...rest] = segments;
    let samples = (first && this.find(first.name)) ?? [];
    for (const [number, { kind, name, index }] of rest.entries()) {
      const isMethod = kind === "name" && rest[number + 1]?.kind === "call";
      if (isMethod) samples = ofMethod(samples, name);
      else if (kind === "name") samples = memberOf(samples, name);
      else if (kind === "index") samples = itemOf(samples, index);
      else if (kind === "other") samples = [];
    }
    return segments[1]?.kind === "call" ? [] : samples;
  }

  /** Returns what an expression is. Calculations are unknown. */
  evaluate(tokens: readonly Token[]): Samples {
    const [first] = tokens;
    if (first?.kind !== "name") return tokens.length === 1 && first ? [literal(first)] : [];
    const path = pathAt(tokens, 0);
    let samples = this.resolve(path.segments);
    let next = path.next;
    while (tokens[next]?.text === "|" && tokens[next + 1]?.kind === "name") {
      const name = tokens[next + 1]!.text;
      const end = tokens[next + 2]?.text === "(" ? closing(tokens, next + 2) : next + 1;
      samples = filtered(samples, name, tokens.slice(next + 3, end));
      next = end + 1;
    }
    return next >= tokens.length || ["or", "if"].includes(tokens[next]!.text) ? samples : [];
  }

  /** Goes past a tag. */
  pass(tag: Tag) {
    if (tag.kind !== "statement") return;
    const keyword = tag.tokens[0]?.text ?? "";
    if (keyword.startsWith("end")) return this.close(keyword.slice(3));
    const values = tag.tokens.slice(firstExpression(tag));
    const names = new Map<string, Samples>();
    const inner = this.blocks.at(-1);
    switch (keyword) {
      case "else":
        // The content for an empty list.
        if (inner?.keyword === "for") inner.names.clear();
        break;
      case "for":
        names.set("loop", [LOOP]);
        this.destructure(names, targets(tag.tokens, "in"), itemsOf(this.evaluate(iterated(values))));
        break;
      case "set":
        this.destructure(this.nearest(), targets(tag.tokens, "="), opensBlock(tag) ? [""] : this.evaluate(values));
        break;
      case "with":
        for (const [name, value] of assignments(tag.tokens.slice(1))) names.set(name, this.evaluate(value));
        break;
      case "macro":
        if (tag.tokens[1]) this.nearest().set(tag.tokens[1].text, []);
        for (const { kind, text } of values) if (kind === "name") names.set(text, []);
        names.set("caller", []);
        break;
      case "import":
      case "from":
        // The tag and the name of the partial come first.
        for (const { kind, text } of tag.tokens.slice(2)) {
          if (kind === "name" && !IMPORT_WORDS.has(text)) this.nearest().set(text, []);
        }
        break;
      case "call":
        if (tag.tokens[1]?.text === "(") {
          for (const { kind, text } of tag.tokens.slice(2, closing(tag.tokens, 1))) {
            if (kind === "name") names.set(text, []);
          }
        }
        break;
    }
    if (opensBlock(tag)) this.blocks.push({ keyword, from: tag.from, names });
  }

  private close(keyword: string) {
    const at = this.blocks.findLastIndex((block) => block.keyword === keyword);
    if (at >= 0) this.blocks.splice(at);
  }

  /** Returns the names of the innermost scope. */
  private nearest(): Map<string, Samples> {
    return this.blocks.findLast(({ keyword }) => SCOPES.has(keyword))?.names ?? this.names;
  }

  private destructure(into: Map<string, Samples>, names: readonly string[], samples: Samples) {
    const [only] = names;
    if (names.length === 1 && only !== undefined) into.set(only, samples);
    else names.forEach((name, at) => into.set(name, itemOf(samples, at)));
  }
}

/** Returns the names between the keyword of a tag and a word; those of members, as in `set a.b = 1`, are left out. */
function targets(tokens: readonly Token[], end: string): string[] {
  const at = tokens.findIndex(({ kind, text }) => kind !== "text" && (text === end || text === "|"));
  const names = tokens.slice(1, at < 0 ? undefined : at);
  return names.some(({ text }) => text === ".")
    ? []
    : names.filter(({ kind }) => kind === "name").map(({ text }) => text);
}

/** Returns the tokens of the list of a loop, without its condition. */
function iterated(tokens: readonly Token[]): readonly Token[] {
  const end = tokens.findIndex(({ kind, text }) => kind === "name" && (text === "if" || text === "recursive"));
  return end < 0 ? tokens : tokens.slice(0, end);
}

/** Returns the assignments of `with a = 1, b = 2`. */
function assignments(tokens: readonly Token[]): [string, Token[]][] {
  const found: [string, Token[]][] = [];
  for (let at = 0; at < tokens.length;) {
    const name = tokens[at]!.text;
    let end = at + 2;
    while (end < tokens.length && tokens[end]!.text !== ",") {
      end = "([{".includes(tokens[end]!.text) ? closing(tokens, end) + 1 : end + 1;
    }
    found.push([name, tokens.slice(at + 2, end)]);
    at = end + 1;
  }
  return found;
}

function literal({ kind, text }: Token): unknown {
  return kind === "number" ? Number(text) : text;
}

function filtered(samples: Samples, filter: string, args: readonly Token[]): Samples {
  const attribute = args.find(({ kind }) => kind === "text")?.text;
  switch (filter) {
    case "sort":
    case "reverse":
    case "unique":
    case "list":
    case "select":
    case "reject":
    case "selectattr":
    case "rejectattr":
    case "default":
    case "d":
    case "chain":
      return samples;
    case "first":
    case "last":
    case "min":
    case "max":
      return itemsOf(samples);
    case "map":
      return args[0]?.text === "attribute" && attribute ? [atPath(itemsOf(samples), attribute)] : [];
    case "groupby":
      return [[{ grouper: attribute ? atPath(itemsOf(samples), attribute)[0] : undefined, list: itemsOf(samples) }]];
    case "items":
    case "dictsort":
      return ofMethod(samples, "items");
    case "batch":
    case "slice":
      return [samples];
    default:
      return [];
  }
}

function atPath(samples: Samples, path: string): Samples {
  return path.split(".").reduce(memberOf, samples);
}

function ofMethod(samples: Samples, method: string): Samples {
  const objects = samples.filter(isObject);
  if (method === "items") return objects.map((object) => Object.entries(object));
  if (method === "values") return objects.map((object) => Object.values(object));
  return [];
}
