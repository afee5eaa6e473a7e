// “Did you mean”: names that neither the sample data nor the template syntax has, but that are close to one that is there.

import { pathAt, uses } from "./paths.ts";
import { entryOf, filters, loop } from "./reference.ts";
import { membersOf } from "./sample-data.ts";
import { LOOP, Scope } from "./scope.ts";
import { tagsOf, type Token } from "./scan.ts";

export interface Suggestion {
  /** Where the path begins. */
  start: number;
  /** The unknown name in the path. */
  from: number;
  to: number;
  name: string;
  /** The name that is probably meant. */
  instead: string;
  of: "data" | "filter";
}

/** Most suggestions for a template. */
const MOST = 50;
/** Shortest name for which there is a suggestion: shorter ones are all similar. */
const SHORTEST = 3;
/** Names of all filters. */
const FILTERS = Object.keys(filters);
/** From this length, two typing errors are accepted, otherwise one. */
const LONG = 5;

/** Returns suggestions for the unknown names of a template. */
export function suggestionsFor(template: string, data: unknown): Suggestion[] {
  const scope = new Scope(data);
  const found: Suggestion[] = [];
  for (const tag of tagsOf(template)) {
    const { tokens } = tag;
    found.push(...filterSuggestions(tokens));
    // Without data, nothing is known about its names.
    if (data === undefined) continue;
    const condition = tokens[0]?.text === "for" ? tokens.findIndex(({ text }) => text === "if") : -1;
    const [inCondition, others] = partition(uses(tag), (at) => condition >= 0 && at > condition);
    for (const at of others) found.push(...suggestionAt(tokens, at, scope));
    scope.pass(tag);
    for (const at of inCondition) found.push(...suggestionAt(tokens, at, scope));
    if (found.length >= MOST) break;
  }
  return found.slice(0, MOST);
}

/** Returns suggestions for the unknown filters of a tag. */
function filterSuggestions(tokens: readonly Token[]): Suggestion[] {
  return tokens.flatMap(({ kind, text: name, from, to }, at) => {
    if (kind !== "name" || tokens[at - 1]?.text !== "|" || entryOf(filters, name)) return [];
    const instead = closest(name, FILTERS);
    return instead === undefined ? [] : [{ start: from, from, to, name, instead, of: "filter" as const }];
  });
}

/** Returns the suggestion for the first unknown name of the path at a token. */
function suggestionAt(tokens: readonly Token[], at: number, scope: Scope): Suggestion[] {
  const { segments, next } = pathAt(tokens, at);
  if (isOptional(tokens, next)) return [];
  for (const [number, segment] of segments.entries()) {
    // Functions and methods are checked by the service.
    if (segments[number + 1]?.kind === "call") return [];
    if (segment.kind !== "name") continue;
    const known = number === 0 ? namesIn(scope) : membersIn(scope, segments.slice(0, number));
    if (known.length === 0) return [];
    if (known.includes(segment.name)) continue;
    const instead = closest(segment.name, known);
    const { from, to, name } = segment;
    // A name in a subscript is a text: `lines['price']`.
    const isWord = to - from === name.length;
    return instead !== undefined && isWord ? [{ start: segments[0]!.from, from, to, name, instead, of: "data" }] : [];
  }
  return [];
}

function namesIn(scope: Scope): string[] {
  return [...scope.defined().keys(), ...scope.members().keys()];
}

function membersIn(scope: Scope, path: Parameters<Scope["resolve"]>[0]): string[] {
  const samples = scope.resolve(path);
  return samples[0] === LOOP ? Object.keys(loop) : [...membersOf(samples).keys()];
}

/** Returns whether the template expects that the value before a token may be undefined. */
function isOptional(tokens: readonly Token[], next: number): boolean {
  const [sign, word, second] = tokens.slice(next, next + 3).map(({ text }) => text);
  if (sign === "|") return word === "default" || word === "d";
  return sign === "is" && ["defined", "undefined"].includes((word === "not" ? second : word) ?? "");
}

/** Returns the name that differs least, by so few typing errors that it is probably meant. */
export function closest(name: string, names: readonly string[]): string | undefined {
  if (name.length < SHORTEST) return undefined;
  const most = name.length < LONG ? 1 : 2;
  let best: string | undefined;
  let least = most + 1;
  for (const candidate of names) {
    if (Math.abs(candidate.length - name.length) > most) continue;
    const distance = candidate.toLowerCase() === name.toLowerCase() ? 0 : distanceBetween(name, candidate);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** Returns how many characters have to be inserted, removed, replaced or swapped. */
function distanceBetween(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, row[j]! + 1, next[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1);
      next.push(least);
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
