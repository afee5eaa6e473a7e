// Tidies a template: indents its lines by elements and blocks of the template syntax.
//
// The result prints the same. Only white space changes that a browser collapses anyway, and it stays white space:
// nothing is inserted between characters, and nothing removed. Tags keep their text. Content that is printed as it is
// written (`pre`, `textarea`, scripts, style sheets) and content that the template uses as a value stays, too.

/** A replacement of white space. */
export interface Change {
  from: number;
  to: number;
  insert: string;
}

/** Why a template can't be tidied. */
export class Untidy extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

interface Piece {
  /** `text` is text without white space at its ends; `verbatim` is an element or block that stays as it is. */
  kind: "close" | "comment" | "else" | "end" | "open" | "space" | "start" | "text" | "value" | "verbatim";
  from: number;
  to: number;
  /** Name of the element, or keyword of the block. */
  name: string;
}

const INDENT = "  ";
/** Deeper lines are indented like this one. */
const DEEPEST = 40;
/** Most elements and blocks that are open at once. */
const MOST_OPEN = 250;
/** Statements with an end tag. `set` has one only without `=`. */
const BLOCKS = new Set(["autoescape", "block", "call", "filter", "for", "if", "macro", "set", "with"]);
/** Blocks whose content is a value, in which white space may matter. */
const VALUES = new Set(["call", "filter", "macro", "raw", "set"]);
const VERBATIM = new Set(["listing", "plaintext", "pre", "script", "style", "textarea", "xmp"]);
/** Elements that are blocks in every browser, and those of the document's head. Others are part of a line. */
const BLOCK_LEVEL = new Set(
  (
    "address article aside base blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset " +
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li link main menu meta nav ol " +
    "optgroup option p search section select summary table tbody td tfoot th thead title tr ul"
  ).split(" "),
);
const VOID = new Set(["base", "col", "hr", "link", "meta"]);
/** Elements that don't indent their content. */
const FLAT = new Set(["head", "html"]);
/** Elements whose end tag may be omitted: which open elements a start tag closes, and where the search for them ends. */
const CLOSES: Record<string, [string[], string[]]> = {
  li: [["li"], ["menu", "ol", "ul"]],
  dt: [["dd", "dt"], ["dl"]],
  dd: [["dd", "dt"], ["dl"]],
  td: [
    ["td", "th"],
    ["table", "tr"],
  ],
  th: [
    ["td", "th"],
    ["table", "tr"],
  ],
  tr: [["td", "th", "tr"], ["table"]],
  tbody: [["td", "th", "tr", "tbody", "thead", "tfoot", "caption", "colgroup"], ["table"]],
  thead: [["caption", "colgroup"], ["table"]],
  tfoot: [["td", "th", "tr", "tbody", "thead"], ["table"]],
  option: [["option"], ["datalist", "select"]],
  optgroup: [["option", "optgroup"], ["select"]],
  body: [["head"], ["html"]],
};
/** Styles with which white space is printed, and those with which only line breaks are. */
const PRINTED = /white-space(?:-collapse)?\s*:\s*(?:pre(?!-line)|break-spaces|preserve(?!-breaks))|xml:space/i;
const BREAKS_PRINTED = /white-space(?:-collapse)?\s*:\s*(?:pre-line|preserve-breaks)/i;
/** Margin boxes of `@page`, which contain nothing of the document. */
const MARGIN_BOXES = /@(?:top|right|bottom|left)-[\w-]+\s*\{(?:\{\{.*?\}\}|[^{}])*\}/gs;

/** Returns the changes that tidy a template, in their order. Throws {@link Untidy} if it can't be read. */
export function tidy(template: string): Change[] {
  const styles = template.replace(MARGIN_BOXES, (box) => " ".repeat(box.length));
  const printed = PRINTED.exec(styles);
  if (printed) throw new Untidy("This style prints white space, which tidying would change", printed.index);
  const keepsBreaks = BREAKS_PRINTED.test(styles);
  const pieces = split(template);
  const depths = new Depths();
  const changes: Change[] = [];
  for (const [at, piece] of pieces.entries()) {
    if (piece.kind !== "space") {
      depths.pass(piece);
      continue;
    }
    const [before, next] = [pieces[at - 1], pieces[at + 1]];
    const written = template.slice(piece.from, piece.to);
    const breaks = written.split("\n").length - 1;
    const isBetween = before !== undefined && next !== undefined && isBoundary(before) && isBoundary(next);
    if (breaks === 0 && (keepsBreaks || !isBetween)) continue;
    const lines = "\n".repeat(keepsBreaks ? breaks : Math.min(Math.max(breaks, 1), 2));
    const insert = lines + (next ? INDENT.repeat(Math.min(depths.before(next), DEEPEST)) : "");
    if (insert !== written) changes.push({ from: piece.from, to: piece.to, insert });
  }
  depths.finish();
  return changes;
}

/** Returns whether white space between two pieces of this kind may become a line break. */
function isBoundary({ kind, name }: Piece): boolean {
  if (kind === "open" || kind === "close") return BLOCK_LEVEL.has(name);
  return kind === "start" || kind === "else" || kind === "end";
}

/** The open elements and blocks. */
class Depths {
  /** Elements and blocks, from the outermost; blocks begin with `%`. */
  private readonly open: { name: string; from: number }[] = [];

  /** Returns the depth of a line that begins with a piece. */
  before(piece: Piece): number {
    const names = this.open.map(({ name }) => name);
    if (piece.kind === "close" || piece.kind === "open") names.length = this.keptBy(piece);
    if (piece.kind === "else" || piece.kind === "end") names.length = this.startOf(piece) ?? names.length;
    return names.filter((name) => !FLAT.has(name)).length;
  }

  pass(piece: Piece) {
    const { kind, name, from } = piece;
    if (kind === "open" && BLOCK_LEVEL.has(name)) {
      this.open.length = this.keptBy(piece);
      if (!VOID.has(name)) this.open.push({ name, from });
    } else if (kind === "close") this.open.length = this.keptBy(piece);
    else if (kind === "start") this.open.push({ name: `%${name}`, from });
    else if (kind === "else" || kind === "end") {
      const start = this.startOf(piece);
      if (start === undefined) throw new Untidy(`{% ${name} %} belongs to no block`, from);
      // Elements that only one branch opens are left to their end tags.
      this.open.length = kind === "end" ? start : start + 1;
    }
    if (this.open.length > MOST_OPEN) throw new Untidy(`More than ${MOST_OPEN} elements are open`, from);
  }

  finish() {
    const block = this.open.findLast(({ name }) => name.startsWith("%"));
    if (block) throw new Untidy(`{% ${block.name.slice(1)} %} is not closed`, block.from);
  }

  /** Returns how many elements and blocks a tag leaves open. Tags close no element outside of their block. */
  private keptBy({ kind, name }: Piece): number {
    const [closed, limits] = kind === "close" ? [[name], []] : (CLOSES[name] ?? [[], []]);
    let kept = this.open.length;
    // A paragraph ends before every block.
    if (kind === "open" && this.open[kept - 1]?.name === "p" && BLOCK_LEVEL.has(name)) kept -= 1;
    for (let at = kept - 1; at >= 0; at -= 1) {
      const open = this.open[at]!.name;
      if (open.startsWith("%") || limits.includes(open)) break;
      if (!closed.includes(open)) continue;
      kept = at;
      if (kind === "close") break;
    }
    return kept;
  }

  /** Returns the position of the innermost block, if a branch or an end tag belongs to it. */
  private startOf({ name }: Piece): number | undefined {
    const at = this.open.findLastIndex((open) => open.name.startsWith("%"));
    const keyword = this.open[at]?.name.slice(1);
    if (keyword === undefined) return undefined;
    const owners = { elif: ["if"], else: ["for", "if"] }[name] ?? [name.replace(/^end/, "")];
    return owners.includes(keyword) ? at : undefined;
  }
}

/** Splits a template into pieces, which are adjacent. */
function split(template: string): Piece[] {
  const pieces: Piece[] = [];
  // Not every white space of Unicode: browsers collapse only this.
  const next = /[ \t\r\n\f]+|\{[{%#]|<(?=[a-z/!?])/gi;
  for (let position = 0; position < template.length;) {
    next.lastIndex = position;
    const match = next.exec(template);
    const from = match?.index ?? template.length;
    if (from > position) pieces.push({ kind: "text", from: position, to: from, name: "" });
    if (!match) break;
    const piece = read(template, from, match[0]);
    pieces.push(piece);
    position = piece.to;
  }
  return pieces;
}

/** Reads the piece that begins with a mark. */
function read(template: string, from: number, mark: string): Piece {
  const piece = (kind: Piece["kind"], to: number, name = ""): Piece => ({ kind, from, to, name });
  if (mark === "{{") return piece("value", endOfTag(template, from));
  if (mark === "{#") return piece("comment", after(template, "#}", from + 2, from));
  if (mark === "{%") return readStatement(template, from);
  if (mark !== "<") return piece("space", from + mark.length);
  if (template.startsWith("<!--", from)) return piece("comment", after(template, "-->", from + 4, from));
  const to = endOfElement(template, from);
  const [, slash, name] = /^<(\/?)([a-z][^\s/>{]*)?/i.exec(template.slice(from, from + 64)) ?? [];
  const element = (name ?? "").toLowerCase();
  if (slash) return piece("close", to, element);
  if (!VERBATIM.has(element)) return piece(element ? "open" : "comment", to, element);
  const end = new RegExp(`</${element}(?![a-z0-9])`, "gi");
  end.lastIndex = to;
  const found = end.exec(template);
  if (!found) throw new Untidy(`<${element}> is not closed`, from);
  return piece("verbatim", endOfElement(template, found.index), element);
}

function readStatement(template: string, from: number): Piece {
  const to = endOfTag(template, from);
  const statement = template.slice(from, to);
  const name = /^\{%[-+]?\s*(\w+)/.exec(statement)?.[1] ?? "";
  const piece = (kind: Piece["kind"], end = to): Piece => ({ kind, from, to: end, name });
  if (name.startsWith("end") && BLOCKS.has(name.slice(3))) return piece("end");
  if (name === "elif" || name === "else") return piece("else");
  if (name === "set" && /^[^|]*=/.test(statement)) return piece("value");
  if (VALUES.has(name)) return piece("verbatim", endOfBlock(template, name, to, from));
  return piece(BLOCKS.has(name) ? "start" : "value");
}

/** Returns the end of the end tag of a block, whose content begins at `from`. Blocks of the same kind may be nested. */
function endOfBlock(template: string, name: string, from: number, start: number): number {
  const tags = new RegExp(`\\{%[-+]?\\s*(end)?${name}\\b[^%]*?%\\}`, "g");
  tags.lastIndex = from;
  let depth = 1;
  for (let tag = tags.exec(template); tag; tag = tags.exec(template)) {
    if (tag[1]) depth -= 1;
    else if (name !== "raw" && !(name === "set" && tag[0].includes("="))) depth += 1;
    if (depth === 0) return tags.lastIndex;
  }
  throw new Untidy(`{% ${name} %} is not closed`, start);
}

/** Returns the end of `{{ … }}` or `{% … %}`. Texts in it may contain braces. */
function endOfTag(template: string, from: number): number {
  const closing = template[from + 1] === "{" ? "}}" : "%}";
  const token = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\{|\}\}|%\}|\}/gs;
  token.lastIndex = from + 2;
  let open = 0;
  for (let match = token.exec(template); match; match = token.exec(template)) {
    const [sign] = match;
    if (sign === closing && open === 0) return token.lastIndex;
    if (sign === "{") open += 1;
    else if (sign.startsWith("}")) {
      // The braces of objects close one by one.
      open = Math.max(open - 1, 0);
      token.lastIndex = match.index + 1;
    }
  }
  throw new Untidy(`${template.slice(from, from + 2)} has no ${closing}`, from);
}

/** Returns the end of a tag of HTML. Values of attributes and of the template may contain `>`. */
function endOfElement(template: string, from: number): number {
  const token = /"|'|>|\{[{%#]/g;
  let quote = "";
  for (let position = from + 1; ;) {
    token.lastIndex = position;
    const match = token.exec(template);
    if (!match) throw new Untidy("This tag has no end", from);
    const [sign] = match;
    position = token.lastIndex;
    if (sign.startsWith("{")) {
      position = sign === "{#" ? after(template, "#}", position, match.index) : endOfTag(template, match.index);
    } else if (quote !== "") {
      if (sign === quote) quote = "";
    } else if (sign === ">") return position;
    else quote = sign;
  }
}

function after(template: string, closing: string, position: number, from: number): number {
  const end = template.indexOf(closing, position);
  if (end < 0) throw new Untidy(`A comment has no ${closing}`, from);
  return end + closing.length;
}
