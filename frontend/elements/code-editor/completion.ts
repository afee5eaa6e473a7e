// Completion in templates: names of the sample data and of the template, filters, tests, functions and tags. Outside of
// the braces, the language packages complete HTML and CSS.

import {
  acceptCompletion,
  autocompletion,
  type Completion,
  type CompletionContext,
  completionKeymap,
  completionStatus,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { EditorState, type Extension, Prec } from "@codemirror/state";
import { type EditorView, keymap } from "@codemirror/view";

import { expectedAt, placeAt, type Place } from "./cursor.ts";
import { element } from "./dom.ts";
import { describe, filters, functions, loop, tags, tests, type Entry } from "./reference.ts";
import { membersOf, sampleData, type Samples, shown } from "./sample-data.ts";
import { LOOP } from "./scope.ts";

const WORD = /^[\p{L}_][\p{L}\p{N}\p{M}_]*$/u;
const LITERALS = ["true", "false", "none", "not"].map((label): Completion => ({ label, type: "keyword", boost: -50 }));
const OPERATORS = ["and", "or", "not", "in", "is", "if", "else"].map((label): Completion => ({
  label,
  type: "keyword",
}));

/** Returns the extension that shows completions. */
export function completion(): Extension {
  return [
    autocompletion({ icons: false, defaultKeymap: false, tooltipClass: () => "cm-completions" }),
    Prec.highest(keymap.of([...completionKeymap, { key: "Tab", run: acceptByTab }])),
  ];
}

/** Returns the extension that completes templates. */
export function templateCompletion(): Extension {
  return EditorState.languageData.of(() => [{ autocomplete: complete }]);
}

/** Accepts a completion. While a list is open, Tab never indents, even if the list has only just appeared. */
function acceptByTab(view: EditorView): boolean {
  return acceptCompletion(view) || completionStatus(view.state) === "active";
}

function complete(context: CompletionContext): CompletionResult | null {
  const { state, pos, explicit } = context;
  const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}\p{M}_]*$/u);
  const from = word?.from ?? pos;
  const place = placeAt(state.doc.toString(), from, state.facet(sampleData)());
  if (!place || place.tag.tokens.some((token) => isInside(token, from))) return null;
  const expected = expectedAt(place.tag, from);
  if (!expected) return null;
  // Between words, only what begins an expression is offered without being asked for.
  if (!explicit && !word && expected.kind === "operator") return null;
  return { from, options: optionsOf(place, expected, state), validFor: /^[\p{L}\p{N}\p{M}_]*$/u };
}

/** Returns whether an offset is within a text or a number. */
function isInside({ kind, from, to }: { kind: string; from: number; to: number }, offset: number): boolean {
  return (kind === "text" && from < offset && offset < to) || (kind === "number" && from < offset && offset <= to);
}

function optionsOf(
  place: Place,
  expected: NonNullable<ReturnType<typeof expectedAt>>,
  state: EditorState,
): Completion[] {
  switch (expected.kind) {
    case "tag":
      return tagOptions(place, state);
    case "filter":
      return documented(filters, "function");
    case "test":
      return [{ label: "not", type: "keyword" }, ...documented(tests, "function")];
    case "operator":
      return OPERATORS;
    case "member": {
      const samples = place.scope.resolve(expected.of.segments);
      return samples[0] === LOOP ? documented(loop, "property") : members(samples);
    }
    case "value":
      return [
        ...[...place.scope.defined()].map(([name, samples]) => named(name, samples, 2)),
        ...[...place.scope.members()]
          .filter(([name]) => WORD.test(name))
          .map(([name, value]) => named(name, [value], 1)),
        ...documented(functions, "function", -10),
        ...LITERALS,
      ];
  }
}

function named(label: string, samples: Samples, boost: number): Completion {
  const [sample] = samples;
  return {
    label,
    type: "variable",
    boost,
    detail: sample === undefined || sample === LOOP ? undefined : shown(sample),
  };
}

function members(samples: Samples): Completion[] {
  return [...membersOf(samples)].map(([label, value]): Completion => {
    const option = named(label, [value], 0);
    // `a.b c` can only be written as `a['b c']`.
    return WORD.test(label) ? option : { ...option, apply: subscript };
  });
}

function subscript(view: EditorView, { label }: Completion, from: number, to: number) {
  const insert = `['${label.replace(/[\\']/g, "\\$&")}']`;
  view.dispatch({ changes: { from: from - 1, to, insert }, selection: { anchor: from - 1 + insert.length } });
}

function documented(entries: Readonly<Record<string, Entry>>, type: string, boost = 0): Completion[] {
  return Object.entries(entries).map(([label, entry]) => ({
    label,
    type,
    boost,
    detail: entry.signature.replace(/^(is )?\w+(\.\w+)?/, "").trim(),
    info: () => describe(entry),
  }));
}

/** Offers the end of the innermost block first. */
function tagOptions({ tag, scope }: Place, state: EditorState): Completion[] {
  const block = scope.blocks.at(-1);
  const branches = block?.keyword === "if" ? ["elif", "else"] : block?.keyword === "for" ? ["else"] : [];
  const isLoop = scope.blocks.some(({ keyword }) => keyword === "for");
  const others = documented(tags, "keyword").filter(({ label }) => {
    if (label === "elif" || label === "else") return branches.includes(label);
    return isLoop || (label !== "break" && label !== "continue");
  });
  if (!block) return others;
  const opening = state.doc.lineAt(block.from);
  const label = `end${block.keyword}`;
  const closes = state.doc.sliceString(block.from, opening.to).replace(/%\}.*/s, "%}");
  const end: Completion = {
    label,
    type: "keyword",
    boost: 99,
    detail: `line ${opening.number}`,
    info: () => element("div", "cm-reference", `Closes ${closes}`),
    apply: (view, _, from, to) =>
      close(view, block.from, { from: tag.from, to: from }, to, tag.closed ? label : `${label} %}`),
  };
  return [end, ...others];
}

/** Inserts the name of an end tag, whose line gets the indentation of the line that opens the block. */
function close(view: EditorView, opening: number, braces: { from: number; to: number }, to: number, name: string) {
  const { doc } = view.state;
  const line = doc.lineAt(braces.from);
  const isFirst = doc.sliceString(line.from, braces.from).trim() === "";
  const indentation = /^\s*/.exec(doc.lineAt(opening).text)![0];
  const from = isFirst ? line.from : braces.to;
  const insert = isFirst ? indentation + doc.sliceString(braces.from, braces.to) + name : name;
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    scrollIntoView: true,
    userEvent: "input.complete",
  });
}
