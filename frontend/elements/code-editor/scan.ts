// Splits a template into its tags and comments, and tags into tokens. This copes with tags that are being typed.

export interface Tag {
  /** `{{ … }}` or `{% … %}`. */
  kind: "expression" | "statement";
  from: number;
  to: number;
  /** Start and end of the content, without braces and `-`. */
  contentFrom: number;
  contentTo: number;
  /** Whether the tag has its closing braces. */
  closed: boolean;
  tokens: Token[];
}

export interface Comment {
  kind: "comment";
  from: number;
  to: number;
}

export interface Token {
  kind: "name" | "number" | "text" | "sign";
  /** As written; of a text, the value. */
  text: string;
  from: number;
  to: number;
}

const TOKEN =
  /(?<space>\s+)|(?<name>[\p{L}_][\p{L}\p{N}\p{M}_]*)|(?<number>\d[\d_]*(?:\.\d+)?)|(?<text>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|(?<sign>[-+]?[%}]\}|\{[{%#]|\/\/|\*\*|[=!<>]=|.)/gsuy;

const OPENING = /\{[{%#]/g;
const END_OF_RAW = /\{%[-+]?\s*endraw\s*[-+]?%\}/g;

/** Returns the tags of a template. Comments and raw content have none. */
export function tagsOf(template: string): Tag[] {
  return partsOf(template).filter((part) => part.kind !== "comment");
}

/** Returns the tags and comments of a template. */
export function partsOf(template: string): (Tag | Comment)[] {
  const parts: (Tag | Comment)[] = [];
  for (let position = 0; ;) {
    OPENING.lastIndex = position;
    const opening = OPENING.exec(template);
    if (!opening) return parts;
    const from = opening.index;
    if (opening[0] === "{#") {
      const end = template.indexOf("#}", from + 2);
      position = end < 0 ? template.length : end + 2;
      parts.push({ kind: "comment", from, to: position });
      continue;
    }
    const tag = read(template, from);
    parts.push(tag);
    position = tag.to;
    if (tag.kind === "statement" && tag.tokens[0]?.text === "raw") {
      END_OF_RAW.lastIndex = position;
      position = END_OF_RAW.exec(template)?.index ?? template.length;
    }
  }
}

/** Returns the tag at an offset. A tag without closing braces ends with its line, or before the next one. */
function read(template: string, from: number): Tag {
  const kind = template[from + 1] === "{" ? "expression" : "statement";
  const closing = kind === "expression" ? "}}" : "%}";
  const sign = template[from + 2];
  const contentFrom = from + (sign === "-" || sign === "+" ? 3 : 2);
  const tokens: Token[] = [];
  // The braces of an object in an expression: `{{ {'a': {}} }}`.
  let open = 0;
  TOKEN.lastIndex = contentFrom;
  for (let position = contentFrom; ; position = TOKEN.lastIndex) {
    const match = TOKEN.exec(template);
    const groups = match?.groups;
    const text = match?.[0] ?? "";
    if (!groups || (/^\{[{%#]$/.test(text) && groups.sign !== undefined)) {
      const line = template.indexOf("\n", contentFrom);
      const end = line < 0 ? position : Math.min(line, position);
      const onLine = tokens.filter(({ to }) => to <= end);
      return { kind, from, to: end, contentFrom, contentTo: end, closed: false, tokens: onLine };
    }
    if (text.endsWith(closing) && open === 0 && groups.sign !== undefined) {
      return { kind, from, to: TOKEN.lastIndex, contentFrom, contentTo: position, closed: true, tokens };
    }
    if (groups.space !== undefined) continue;
    if (groups.sign !== undefined && text.length > 1 && text.endsWith("}")) {
      // Braces that close nothing here, such as `}}` in an object: one sign at a time.
      TOKEN.lastIndex = position + 1;
    }
    const token = template.slice(position, TOKEN.lastIndex);
    if (groups.sign !== undefined) {
      if (token === "{") open += 1;
      if (token === "}") open = Math.max(open - 1, 0);
    }
    const kinds = ["name", "number", "text", "sign"] as const;
    tokens.push({
      kind: kinds.find((kind) => groups[kind] !== undefined) ?? "sign",
      text: groups.text !== undefined ? valueOf(token) : token,
      from: position,
      to: TOKEN.lastIndex,
    });
  }
}

function valueOf(literal: string): string {
  const end = literal.length > 1 && literal.endsWith(literal[0]!) ? -1 : undefined;
  return literal.slice(1, end).replace(/\\(.)/gs, "$1");
}
