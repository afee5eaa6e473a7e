// <live-part id data-events data-unsettled data-every data-says>: a part of the page that is refreshed when the event stream at
// the address in data-events reports a change. The page is fetched again and this part of it replaced, so that the
// server renders everything that is shown. Without JavaScript, it shows the state of the page when it was loaded.

/** Minimum interval between refreshes, unless all parts have longer ones in `data-every`: a busy account changes all
 * the time. */
const LOOK_AFTER_MS = 1500;
/** Minimum interval between announcements to screen readers. */
const SAY_AFTER_MS = 10_000;

/** An event stream, shared by all parts of the page that use its address. */
class Watch {
  static readonly #all = new Map<string, Watch>();

  static at(address: string): Watch {
    let watch = Watch.#all.get(address);
    if (!watch) Watch.#all.set(address, (watch = new Watch(address)));
    return watch;
  }

  readonly #address: string;
  readonly #parts = new Set<LivePart>();
  #source: EventSource | undefined;
  #looking: ReturnType<typeof setTimeout> | undefined;
  #lastLook = 0;
  /** Whether changes may have been missed while the stream was closed. */
  #missed = false;

  private constructor(address: string) {
    this.#address = address;
    document.addEventListener("visibilitychange", () => this.#follow());
  }

  add(part: LivePart): void {
    this.#parts.add(part);
    this.#missed ||= "unsettled" in part.dataset;
    this.#follow();
  }

  remove(part: LivePart): void {
    this.#parts.delete(part);
    this.#follow();
  }

  /** Schedules a refresh; changes until then share it. */
  lookSoon(): void {
    if (this.#looking !== undefined) return;
    const intervals = [...this.#parts].map((part) => Number(part.dataset.every ?? 0) * 1000);
    const interval = Math.max(LOOK_AFTER_MS, Math.min(...intervals));
    const wait = Math.max(0, this.#lastLook + interval - Date.now());
    this.#looking = setTimeout(() => void this.#look(), wait);
  }

  #follow(): void {
    // Browsers limit the number of connections to a server, so that a hidden page closes its own.
    if (document.hidden || this.#parts.size === 0) {
      this.#missed ||= this.#source !== undefined;
      this.#source?.close();
      this.#source = undefined;
      return;
    }
    if (this.#source) return;
    this.#source = new EventSource(this.#address);
    this.#source.addEventListener("changed", () => this.lookSoon());
    this.#source.addEventListener("open", () => {
      if (this.#missed) this.lookSoon();
      // The stream opens again only after a lost connection.
      this.#missed = true;
    });
  }

  async #look(): Promise<void> {
    this.#lastLook = Date.now();
    const address = location.href;
    const page = await fetchPage();
    this.#looking = undefined;
    // Filters may have changed the address in the meantime.
    if (!page || location.href !== address) return;
    for (const part of this.#parts) {
      const next = page.getElementById(part.id);
      if (next) part.show(next);
    }
  }
}

/** Fetches a page, the current one by default. Returns `undefined` on errors. */
export async function fetchPage(address = location.href): Promise<Document | undefined> {
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" }, redirect: "error" });
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : undefined;
  } catch {
    return undefined;
  }
}

export class LivePart extends HTMLElement {
  #watch: Watch | undefined;
  #served = "";
  #lastSaid = 0;
  #voice: HTMLElement | undefined;
  #isPressed = false;

  connectedCallback(): void {
    if (!this.dataset.events) return;
    this.addEventListener("pointerdown", () => {
      this.#isPressed = true;
      for (const end of ["pointerup", "pointercancel"])
        document.addEventListener(end, () => (this.#isPressed = false), { once: true });
    });
    this.#watch = Watch.at(this.dataset.events);
    this.#watch.add(this);
  }

  disconnectedCallback(): void {
    this.#watch?.remove(this);
    this.#voice?.remove();
  }

  /** Shows the server's current version of this part. */
  show(next: HTMLElement): void {
    const dialog = this.querySelector("dialog[open]");
    if (dialog) {
      // Don't replace an open dialog.
      dialog.addEventListener("close", () => this.#watch?.lookSoon(), { once: true });
      return;
    }
    if (this.#isPressed) {
      // Between press and release a replaced element would lose the click.
      document.addEventListener("pointerup", () => this.#watch?.lookSoon(), { once: true });
      return;
    }
    const served = next.innerHTML;
    if (served !== this.#served) {
      this.#served = served;
      this.#replace(next);
    }
    const says = next.dataset.says ?? "";
    if (says !== this.dataset.says) {
      this.dataset.says = says;
      this.say(says);
    }
    // A part without an event stream has reached its final status.
    if (!next.dataset.events) this.#watch?.remove(this);
  }

  #replace(next: HTMLElement): void {
    const focused = this.contains(document.activeElement) ? nameOf(document.activeElement!) : undefined;
    const known = new Set(rows(this).map((row) => row.dataset.key));
    const former = details(this);
    this.replaceChildren(...next.childNodes);
    for (const [name, element] of details(this)) element.open ||= former.get(name)?.open ?? false;
    if (known.size > 0) {
      for (const row of rows(this)) row.classList.toggle("table__row--new", !known.has(row.dataset.key));
    }
    if (focused !== undefined) {
      const same = [...this.querySelectorAll<HTMLElement>(FOCUSABLE)].find((element) => nameOf(element) === focused);
      same?.focus({ preventScroll: true });
    }
  }

  /** Announces a text to screen readers. */
  say(text: string): void {
    if (!text || Date.now() < this.#lastSaid + SAY_AFTER_MS) return;
    this.#lastSaid = Date.now();
    if (!this.#voice) {
      this.#voice = document.createElement("p");
      this.#voice.className = "visually-hidden";
      this.#voice.role = "status";
      this.after(this.#voice);
    }
    this.#voice.textContent = text;
  }
}

const FOCUSABLE = "a[href], button, summary, [tabindex]";

/** Identifies an element across refreshes, by its row, its target and, without a target, its text. */
function nameOf(element: Element): string {
  const row = element.closest<HTMLElement>("[data-key]")?.dataset.key;
  const target = element.getAttribute("href") ?? element.getAttribute("commandfor");
  return [row, element.tagName, target, target ? "" : element.textContent].join("\n");
}

/** By the caption of their table, because others may appear before them; without one, by their place. */
function details(of: HTMLElement): Map<string, HTMLDetailsElement> {
  const elements = [...of.querySelectorAll("details")];
  return new Map(
    elements.map((element, index) => [element.querySelector("caption")?.textContent ?? `${index}`, element]),
  );
}

function rows(of: HTMLElement): HTMLElement[] {
  return [...of.querySelectorAll<HTMLElement>("[data-key]")];
}

customElements.define("live-part", LivePart);
