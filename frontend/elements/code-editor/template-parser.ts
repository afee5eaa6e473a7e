// The syntax tree of templates, for highlighting and indentation: tags and their tokens as the scanner finds them, and
// the text around them as HTML. A tag never affects the rest of the template, whatever is typed in it.

import { continuedIndent, defineLanguageFacet, indentNodeProp, Language, languageDataProp } from "@codemirror/language";
import {
  type Input,
  NodeProp,
  NodeSet,
  NodeType,
  parseMixed,
  Parser,
  type ParseWrapper,
  type PartialParse,
  Tree,
  type TreeFragment,
} from "@lezer/common";
import { styleTags, tags } from "@lezer/highlight";

import { CONSTANTS, KEYWORDS } from "./paths.ts";
import { partsOf, type Tag } from "./scan.ts";
import { opensBlock } from "./scope.ts";

/** `Text` is HTML, `Output` is `{{ … }}`, and the other statements are those that neither begin nor end a block. */
const NAMES = [
  ...["Template", "Text", "Comment", "Output", "Statement", "BlockStart", "BlockBranch", "BlockEnd"],
  ...["Brace", "Keyword", "Constant", "Name", "Member", "Filter", "Number", "String", "Sign"],
] as const;
type Name = (typeof NAMES)[number];

const facet = defineLanguageFacet({ indentOnInput: /^\s*\{%[-+]?\s*(?:end\w+|elif|else)$/ });

const nodes = new NodeSet(NAMES.map((name, id) => NodeType.define({ id, name, top: name === "Template" }))).extend(
  languageDataProp.add({ Template: facet }),
  NodeProp.closedBy.add({ BlockStart: ["BlockEnd"] }),
  indentNodeProp.add({ "Output Statement BlockStart BlockBranch BlockEnd": continuedIndent() }),
  styleTags({
    Comment: tags.blockComment,
    Brace: tags.brace,
    Keyword: tags.keyword,
    Constant: tags.bool,
    Name: tags.variableName,
    Member: tags.propertyName,
    Filter: tags.special(tags.variableName),
    Number: tags.number,
    String: tags.string,
    Sign: tags.operator,
  }),
);

/** Returns the language of templates in this language of HTML. */
export function templateLanguage(html: Language): Language {
  const wrap = parseMixed((node) =>
    node.type.isTop ? { parser: html.parser, overlay: ({ name }) => name === "Text" } : null,
  );
  return new Language(facet, new TemplateParser(wrap), [], "template");
}

class TemplateParser extends Parser {
  constructor(private readonly wrap: ParseWrapper) {
    super();
  }

  override createParse(
    input: Input,
    fragments: readonly TreeFragment[],
    ranges: readonly { from: number; to: number }[],
  ): PartialParse {
    return this.wrap(new TemplateParse(input), input, fragments, ranges);
  }
}

/** Scans the whole template in one step, which takes a millisecond for ten kilobytes. Only the HTML is parsed in slices. */
class TemplateParse implements PartialParse {
  parsedPos = 0;
  stoppedAt: number | null = null;

  constructor(private readonly input: Input) {}

  stopAt(position: number) {
    this.stoppedAt = position;
  }

  advance(): Tree {
    const template = this.input.read(0, this.input.length);
    const end = this.stoppedAt ?? template.length;
    const children: Tree[] = [];
    const positions: number[] = [];
    let position = 0;
    const add = (child: Tree) => {
      children.push(child);
      positions.push(position);
      position += child.length;
    };
    for (const part of partsOf(template)) {
      if (part.from >= end) break;
      if (part.from > position) add(node("Text", part.from - position));
      add(part.kind === "comment" ? node("Comment", part.to - part.from) : treeOf(part));
    }
    if (position < end) add(node("Text", end - position));
    this.parsedPos = position;
    return new Tree(typeOf("Template"), children, positions, position).balance();
  }
}

function typeOf(name: Name): NodeType {
  return nodes.types[NAMES.indexOf(name)]!;
}

function node(name: Name, length: number): Tree {
  return new Tree(typeOf(name), [], [], length);
}

function treeOf(tag: Tag): Tree {
  const children = [
    node("Brace", tag.contentFrom - tag.from),
    ...tag.tokens.map((token, at) => node(nameOfToken(tag, at), token.to - token.from)),
  ];
  const positions = [0, ...tag.tokens.map(({ from }) => from - tag.from)];
  if (tag.closed) {
    children.push(node("Brace", tag.to - tag.contentTo));
    positions.push(tag.contentTo - tag.from);
  }
  return new Tree(typeOf(nameOfTag(tag)), children, positions, tag.to - tag.from);
}

function nameOfTag(tag: Tag): Name {
  if (tag.kind === "expression") return "Output";
  const keyword = tag.tokens[0]?.text ?? "";
  if (keyword.startsWith("end")) return "BlockEnd";
  if (keyword === "else" || keyword === "elif") return "BlockBranch";
  return keyword === "raw" || opensBlock(tag) ? "BlockStart" : "Statement";
}

function nameOfToken({ kind, tokens }: Tag, at: number): Name {
  const token = tokens[at]!;
  if (token.kind === "number") return "Number";
  if (token.kind === "text") return "String";
  if (token.kind === "sign") return "Sign";
  const before = tokens[at - 1];
  if (before?.kind === "sign" && before.text === ".") return "Member";
  if (before?.kind === "sign" && before.text === "|") return "Filter";
  if (kind === "statement" && at === 0) return "Keyword";
  if (kind === "statement" && at === 1 && before?.text === "filter") return "Filter";
  if (CONSTANTS.has(token.text)) return "Constant";
  return KEYWORDS.has(token.text) ? "Keyword" : "Name";
}
