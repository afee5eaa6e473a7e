// Sample data that the service generates from a template.

/** Most fields that are named. */
const MOST_NAMED = 6;

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Generates data on the server. Returns it, or else the problem. */
export async function generate(content: string, data: string): Promise<{ data?: string; problem: string }> {
  const problem = "The data couldn’t be generated. Try again.";
  const token = document.querySelector<HTMLMetaElement>("meta[name=csrf-token]")?.content ?? "";
  try {
    const answer = await fetch("/web/generate-sample", {
      method: "POST",
      headers: { accept: "application/json", "x-csrf-token": token },
      body: new URLSearchParams({ content, data }),
    });
    if (!answer.ok) return { problem };
    const generated = (await answer.json()) as { data: string } | { problem: string };
    return { problem: "", ...generated };
  } catch {
    return { problem };
  }
}

/** Returns the paths of the members that data has and earlier data lacks, without those of added members. */
export function addedFields(before: string, after: string): string[] {
  const found = new Set<string>();
  const compare = (old: Json | undefined, next: Json, path: string) => {
    if (typeof next !== "object" || next === null) return;
    const isObject = typeof old === "object" && old !== null;
    for (const [name, value] of Object.entries(next)) {
      const own = isObject && Object.hasOwn(old, name) ? (old as { [name: string]: Json })[name] : undefined;
      // The items of a list have the same members.
      const below = Array.isArray(next) ? path : path ? `${path}.${name}` : name;
      if (own === undefined) found.add(below);
      else compare(own, value, below);
    }
  };
  // Blank data is generated as if it were an empty object.
  compare(before.trim() === "" ? {} : (JSON.parse(before) as Json), JSON.parse(after) as Json, "");
  return [...found];
}

/** Returns the sentence about added fields. */
export function summary(fields: readonly string[]): string {
  if (fields.length === 0) return "Nothing to add: the data has everything that the template uses.";
  const named = fields.slice(0, MOST_NAMED).join(", ");
  const more = fields.length > MOST_NAMED ? ` and ${fields.length - MOST_NAMED} more` : "";
  return `Added ${fields.length === 1 ? "1 field" : `${fields.length} fields`}: ${named}${more}.`;
}
