// The way between a place on a page and the line of the template that printed it.
//
// The service sends the words of the filled template, each with its line, and the words of the pages, each with its
// place. Both are in reading order for the most part, so that runs of equal words belong together: in loops, the first
// run of a line that wasn't found before.

import type { Source } from "./source-span.ts";

/** Left, top, width and height, in ten-thousandths of the page. */
export type Box = readonly [number, number, number, number];

interface Texts {
  /** Lines of the template, and the words that they made, separated by spaces. */
  source: [number, string][];
  /** Number of the page, text, and place. */
  pages: [number, string, Box][];
}

/** Words on a page, in ten-thousandths of its size. */
export interface Mark {
  page: number;
  box: Box;
}

/** Lengths of runs of words that are looked for, in this order. */
const RUNS = [3, 2, 1];
/** Largest distance of a click from a word, in ten-thousandths of the page. */
const NEAR = 250;
/** Largest distance of a line without text from the line that is shown instead. */
const NEIGHBOURS = 2;
/** Most marks. */
const MOST_MARKS = 200;

export class Places {
  private readonly pages: Texts["pages"];
  private readonly words: { line: number; word: string }[];
  /** The index of the source of each word of the pages. */
  private readonly found: (number | undefined)[];

  constructor(json: string) {
    const { source, pages } = JSON.parse(json) as Texts;
    this.words = source.flatMap(([line, text]) => text.split(" ").map((word) => ({ line, word: plain(word) })));
    this.found = align(
      pages.map(([, text]) => plain(text)),
      this.words.map(({ word }) => word),
    );
    this.pages = pages;
  }

  /** Returns the source of the word at or near a place. */
  sourceAt(page: number, x: number, y: number): Source | undefined {
    let nearest: number | undefined;
    let least = NEAR;
    for (const [at, [number, , [left, top, width, height]]] of this.pages.entries()) {
      if (number !== page || this.found[at] === undefined) continue;
      const across = Math.max(left - x, x - left - width, 0);
      const along = Math.max(top - y, y - top - height, 0);
      const distance = Math.hypot(across, along);
      if (distance < least) [nearest, least] = [this.found[at], distance];
    }
    return nearest === undefined ? undefined : this.sourceOf(nearest);
  }

  /** Returns the sources of the words whose middle is in a box. */
  sourcesIn(page: number, [x, y, w, h]: Box): Source[] {
    const inside = this.pages.map(([number, , [left, top, width, height]]) => {
      const [across, along] = [left + width / 2 - x, top + height / 2 - y];
      return number === page && 0 <= across && across <= w && 0 <= along && along <= h;
    });
    return this.found.filter((_, at) => inside[at]).flatMap((at) => (at === undefined ? [] : this.sourceOf(at)));
  }

  /**
   * Returns the sources of the first words on the pages that equal the longest beginning of the given ones. The last of
   * these may be incomplete.
   */
  sourcesOf(words: readonly string[]): Source[] {
    const matches = (at: number, index: number) => {
      const [found, wanted] = [plain(this.pages[at]![1]), plain(words[index]!)];
      return index === words.length - 1 ? found.startsWith(wanted) : found === wanted;
    };
    let [first, longest] = [0, 0];
    for (let from = 0; from < this.pages.length; from += 1) {
      const most = Math.min(words.length, this.pages.length - from);
      let length = 0;
      while (length < most && matches(from + length, length)) length += 1;
      if (length > longest) [first, longest] = [from, length];
    }
    const found = this.found.slice(first, first + longest);
    return found.flatMap((at) => (at === undefined ? [] : this.sourceOf(at)));
  }

  private sourceOf(at: number): Source {
    const { line } = this.words[at]!;
    let [from, to] = [at, at + 1];
    while (this.words[from - 1]?.line === line) from -= 1;
    while (this.words[to]?.line === line) to += 1;
    return { line, words: this.words.slice(from, to).map(({ word }) => word), at: at - from };
  }

  private lineOf(at: number): number | undefined {
    const source = this.found[at];
    return source === undefined ? undefined : this.words[source]!.line;
  }

  /** Returns the words that a line printed, or a line close to it. Words beside each other in a line of text are one mark. */
  marksOf(line: number): { line: number; marks: Mark[] } {
    for (let away = 0; away <= NEIGHBOURS; away += 1) {
      for (const near of away === 0 ? [line] : [line + away, line - away]) {
        const marks = this.marksOfExactly(near);
        if (marks.length > 0) return { line: near, marks };
      }
    }
    return { line, marks: [] };
  }

  private marksOfExactly(line: number): Mark[] {
    const marks: Mark[] = [];
    let last = -2;
    for (const [at, [page, , box]] of this.pages.entries()) {
      if (this.lineOf(at) !== line) continue;
      const before = marks.at(-1);
      // In a loop, the words below may be those of the next turn.
      const continues = before?.page === page && last === at - 1 && overlaps(before.box, box);
      if (continues) before.box = around(before.box, box);
      else if (marks.push({ page, box }) > MOST_MARKS) break;
      last = at;
    }
    return marks;
  }
}

/** Returns a word as it is compared: `text-transform` changes the case, and fonts have ligatures. */
export function plain(word: string): string {
  return word.normalize("NFKC").toLowerCase();
}

/** Returns whether two words stand in the same line of text. */
function overlaps([, top, , height]: Box, [, y, , h]: Box): boolean {
  return y < top + height && top < y + h;
}

function around([left, top, width, height]: Box, [x, y, w, h]: Box): Box {
  const [start, above] = [Math.min(left, x), Math.min(top, y)];
  return [start, above, Math.max(left + width, x + w) - start, Math.max(top + height, y + h) - above];
}

/** Returns the index in `source` of each word of the pages, or `undefined` for words that it doesn't contain there. */
function align(pages: readonly string[], source: readonly string[]): (number | undefined)[] {
  const found: (number | undefined)[] = pages.map(() => undefined);
  const used = new Uint8Array(source.length);
  for (const length of RUNS) {
    const starts = runsOf(source, length);
    let cursor = 0;
    for (let at = 0; at < pages.length; at += 1) {
      const known = found[at];
      if (known !== undefined) {
        cursor = known + 1;
        continue;
      }
      const candidates = starts.get(keyOf(pages, at, length));
      if (!candidates) continue;
      const start = choose(candidates, cursor, used, length === 1 ? nextOf(found, at, source.length) : undefined);
      if (start === undefined) continue;
      let taken = 0;
      while (
        at + taken < pages.length &&
        found[at + taken] === undefined &&
        pages[at + taken] === source[start + taken]
      ) {
        found[at + taken] = start + taken;
        used[start + taken] = 1;
        taken += 1;
      }
      at += taken - 1;
      cursor = start + taken;
    }
  }
  return found;
}

/** Returns where each run of this length begins. */
function runsOf(words: readonly string[], length: number): Map<string, number[]> {
  const starts = new Map<string, number[]>();
  for (let at = 0; at + length <= words.length; at += 1) {
    const key = keyOf(words, at, length);
    const known = starts.get(key);
    if (known) known.push(at);
    else starts.set(key, [at]);
  }
  return starts;
}

function keyOf(words: readonly string[], at: number, length: number): string {
  return words.slice(at, at + length).join(" ");
}

/**
 * Returns the next unused candidate, or else any unused one, for text that is printed elsewhere, or else a used one, for
 * text that is repeated on each page. A single word, which has an `end`, must be unique or lie before it.
 */
function choose(candidates: number[], cursor: number, used: Uint8Array, end: number | undefined): number | undefined {
  const next = candidates.find((at) => at >= cursor && !used[at]);
  if (end === undefined) return next ?? candidates.find((at) => !used[at]) ?? candidates[0];
  if (next !== undefined && next < end) return next;
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** Returns the source of the next word that is found already. */
function nextOf(found: readonly (number | undefined)[], at: number, end: number): number {
  for (let next = at + 1; next < found.length; next += 1) {
    const source = found[next];
    if (source !== undefined) return source;
  }
  return end;
}
