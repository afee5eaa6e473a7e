// The sample data, as a source of names and values. A place in it is a list of samples: more than one inside of an
// array, whose items may differ, and none if nothing is known.

import { Facet } from "@codemirror/state";

/** Values that an expression has with the sample data. */
export type Samples = readonly unknown[];

/** Most items of an array that are read: rows of one kind rarely differ after the first ones. */
const MOST_ITEMS = 20;
/** Most samples of an expression, as in arrays of arrays. */
const MOST_SAMPLES = 100;
/** Most members that are listed, which no author reads to the end. */
const MOST_MEMBERS = 2000;
/** Longest data that is read, in characters: several times what can be saved. */
const LONGEST_DATA = 2 << 20;
/** Longest value that is shown, in characters. */
const LONGEST_VALUE = 80;

type Reader = () => unknown;

/** Returns the sample data of the editor, or `undefined` if there is none. */
export const sampleData = Facet.define<Reader, Reader>({
  combine: ([reader]) => reader ?? (() => undefined),
});

/** Reads the sample data from its source. While the text is no valid JSON, the last valid data counts. */
export function reader(source: () => string): Reader {
  let last: string | undefined;
  let data: unknown;
  return () => {
    const text = source();
    if (text === last || text.length > LONGEST_DATA) return data;
    last = text;
    try {
      data = JSON.parse(text);
    } catch {
      // The preview reports the error.
    }
    return data;
  };
}

/** Returns the items of arrays. */
export function itemsOf(samples: Samples): Samples {
  const arrays = samples.filter((sample): sample is unknown[] => Array.isArray(sample));
  return arrays.flatMap((array) => array.slice(0, MOST_ITEMS)).slice(0, MOST_SAMPLES);
}

/** Returns one item of arrays; a negative index counts from the end. */
export function itemOf(samples: Samples, index: number): Samples {
  const arrays = samples.filter((sample): sample is unknown[] => Array.isArray(sample));
  return arrays.map((array) => array.at(index)).filter((item) => item !== undefined);
}

/** Returns a member of objects. */
export function memberOf(samples: Samples, name: string): Samples {
  const objects = samples.filter(isObject).filter((object) => Object.hasOwn(object, name));
  return objects.map((object) => object[name]);
}

/** Returns the members of objects by name, each with a sample. */
export function membersOf(samples: Samples): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const object of samples.filter(isObject)) {
    for (const name of Object.keys(object)) {
      if (members.size >= MOST_MEMBERS) return members;
      if (!members.has(name)) members.set(name, object[name]);
    }
  }
  return members;
}

export function isObject(sample: unknown): sample is Record<string, unknown> {
  return typeof sample === "object" && sample !== null && !Array.isArray(sample);
}

/** Returns a short text that shows a value. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 1 ? "list of 1 item" : `list of ${value.length} items`;
  if (isObject(value)) {
    const names = Object.keys(value);
    return shortened(`{ ${names.slice(0, 8).join(", ")}${names.length > 8 ? ", …" : ""} }`);
  }
  return shortened(JSON.stringify(typeof value === "string" ? value.slice(0, LONGEST_VALUE + 1) : value) ?? "");
}

function shortened(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
