// Indentation of the lines of a template: that of the line before, one step deeper after a tag that this line leaves
// open, and one step less before a closing tag. Unlike the syntax tree, this doesn't depend on lines further above,
// where elements may be open that another branch of the template closes.

import { type IndentContext, indentService, syntaxTree } from "@codemirror/language";
import type { Extension, Line } from "@codemirror/state";
import { NodeProp, type SyntaxNode, type Tree } from "@lezer/common";

const CLOSING = /^\s*(<\/|\{%[-+]?\s*(end|else\b|elif\b))/;
const OPENS = new Set(["BlockBranch", "BlockStart", "OpenTag"]);
const CLOSES = new Set(["BlockBranch", "BlockEnd", "CloseTag"]);
const TAGS = /^(Block(Start|Branch|End)|Output|Statement|Comment|(Open|Close|SelfClosing)Tag)$/;
const END = /^(Brace|EndTag|SelfClosingEndTag)$/;

/** Returns the extension. Style sheets, scripts, and tags of several lines are indented by their languages. */
export function indentation(): Extension {
  return indentService.of((context, position) => {
    const tree = syntaxTree(context.state);
    if (tree.length < position || isForeign(tree, position) || unfinished(tree, position)) return undefined;
    return columnAt(context, tree, position);
  });
}

function columnAt(context: IndentContext, tree: Tree, position: number): number | null {
  const isBreak = context.simulatedBreak === position;
  const { doc } = context.state;
  const line = isBreak ? doc.lineAt(position) : lineBefore(context, position);
  if (!line) return null;
  const end = isBreak ? position : line.to;
  // A break before the text of a line.
  if (doc.sliceString(line.from, end).trim() === "") return context.countColumn(line.text, line.text.search(/\S|$/));
  const from = startOf(tree, line.from);
  const deeper = opens(tree, from, end) ? context.unit : 0;
  const back = CLOSING.test(context.textAfterPos(position)) ? context.unit : 0;
  return Math.max(context.lineIndent(doc.lineAt(from).from, -1) + deeper - back, 0);
}

/** Returns the last line before an offset that isn't blank. */
function lineBefore({ state: { doc } }: IndentContext, position: number): Line | undefined {
  for (let { number } = doc.lineAt(position); number > 1; number -= 1) {
    const line = doc.line(number - 1);
    if (line.text.trim() !== "") return line;
  }
  return undefined;
}

/** Returns where the tag begins that a line continues, or else the line. */
function startOf(tree: Tree, from: number): number {
  return ancestors(tree, from).find((node) => TAGS.test(node.name) && node.from < from && from < node.to)?.from ?? from;
}

/** Returns whether the text of a range leaves an element or block open. */
function opens(tree: Tree, from: number, to: number): boolean {
  const isOpen = [tree, tree.prop(NodeProp.mounted)?.tree].map((tree) => {
    let open = 0;
    tree?.iterate({
      from,
      to,
      enter: (node) => {
        if (node.from < from || node.to > to) return;
        if (CLOSES.has(node.name)) open = Math.max(open - 1, 0);
        if (OPENS.has(node.name)) open += 1;
      },
    });
    return open > 0;
  });
  return isOpen.includes(true);
}

/** Returns whether an offset is in a style sheet or script. */
function isForeign(tree: Tree, position: number): boolean {
  return ancestors(tree, position).some(({ name, type }) => type.isTop && name !== "Template" && name !== "Document");
}

/** Returns whether an offset is in a tag. */
function unfinished(tree: Tree, position: number): boolean {
  const tag = ancestors(tree, position).find(({ name }) => TAGS.test(name));
  if (!tag || tag.from >= position) return false;
  return position < tag.to ? tag.name !== "Comment" : tag.name.endsWith("Tag") && !END.test(tag.lastChild?.name ?? "");
}

function ancestors(tree: Tree, position: number): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let node: SyntaxNode | null = tree.resolveInner(position, -1); node; node = node.parent) found.push(node);
  return found;
}
