// Settings that the browser remembers, such as the zoom of the preview.

/** What counts while the browser stores nothing. */
const current = new Map<string, string>();

/** Returns a setting, or `undefined` if it was never set. */
export function recall(name: string): string | undefined {
  try {
    return localStorage.getItem(`platen-${name}`) ?? undefined;
  } catch {
    return current.get(name);
  }
}

/** Remembers a setting. Without a value, it is forgotten. */
export function remember(name: string, value: string | undefined) {
  if (value === undefined) current.delete(name);
  else current.set(name, value);
  try {
    if (value === undefined) localStorage.removeItem(`platen-${name}`);
    else localStorage.setItem(`platen-${name}`, value);
  } catch {
    // Storage is disabled.
  }
}
