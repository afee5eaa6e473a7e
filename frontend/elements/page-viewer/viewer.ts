// The viewer of rendered pages.

import { button, element, type Glyph } from "../code-editor/dom.ts";
import { recall, remember } from "../remembered.ts";
import { marginsOf, pageRules } from "./margins.ts";
import { Overview } from "./overview.ts";
import { Places, plain } from "./places.ts";
import { spanOf, type Source } from "./source-span.ts";
import { LEVELS, measure, nextZoom, parseZoom, STYLE_DOTS, type Size, type Zoom } from "./zoom.ts";

/** Size of a page until there is one: A4, in inches. */
const UNKNOWN: Size = { width: 8.27, height: 11.69 };
/** Whether all panes are visible; the breakpoint of the style sheet. */
const WIDE = matchMedia("(width >= 64rem)");
const SIDES = ["top", "right", "bottom", "left"] as const;
/** Most words that an address may name. */
const MOST_NAMED_WORDS = 30;

/** Creates the viewer in its element, which is inside of the editor's form. */
export function open(host: HTMLElement): Viewer {
  return new Viewer(host);
}

export class Viewer {
  private readonly form: HTMLFormElement;
  private readonly stage: HTMLElement;
  private readonly overview: Overview;
  private readonly position = element("span", "", "No page yet");
  private readonly previous = button("left", "Previous page", () => this.goTo(this.current - 1));
  private readonly next = button("right", "Next page", () => this.goTo(this.current + 1));
  private readonly smaller = button("less", "Zoom out (Alt+−)", () => this.step("out"));
  private readonly larger = button("more", "Zoom in (Alt++)", () => this.step("in"));
  private readonly sizes = element("select", "viewer__zoom");
  private readonly observers: { disconnect(): void }[];
  private readonly stop = new AbortController();
  private zoom: Zoom = parseZoom(recall("preview-zoom"));
  private readonly message: HTMLElement;
  private texts: string | undefined;
  /** Computed from the texts when it is needed. */
  private places: Places | undefined;
  private scale = 1;
  private current = 1;
  private frame = 0;
  private namedWords = namedWords();

  constructor(private readonly host: HTMLElement) {
    this.form = host.closest("form")!;
    this.stage = host.querySelector<HTMLElement>(".viewer__stage")!;
    this.message = this.form.querySelector<HTMLElement>(".viewer__message")!;
    this.overview = new Overview(host.querySelector<HTMLElement>(".viewer__overview")!, (page) => this.goTo(page));
    this.addTools();
    const changed = new MutationObserver(() => this.update());
    changed.observe(this.stage, { attributeFilter: ["src"], childList: true, subtree: true });
    const resized = new ResizeObserver(() => this.layOut());
    resized.observe(this.stage);
    this.observers = [changed, resized];
    const { signal } = this.stop;
    // On small screens, the page scrolls instead of the stage.
    document.addEventListener("scroll", () => this.soon(), { capture: true, passive: true, signal });
    window.addEventListener("keydown", (event) => this.press(event), { signal });
    this.stage.addEventListener("click", (event) => this.goToSource(event), { signal });
    this.form.addEventListener("show-in-preview", (event) => this.show((event as CustomEvent<number>).detail), {
      signal,
    });
    this.layOut();
    this.update();
  }

  close() {
    this.stop.abort();
    for (const observer of this.observers) observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** Takes the text of template and pages, or none. */
  read(texts: string | null) {
    this.texts = texts ?? undefined;
    this.places = undefined;
    this.unmark();
    if (texts !== null) this.goToNamedWords();
  }

  /** Selects what printed the words that the address of the page names, the first time that the pages are known. */
  private goToNamedWords() {
    const words = this.namedWords;
    this.namedWords = [];
    if (words.length === 0) return;
    const sources = this.known()?.sourcesOf(words) ?? [];
    const [first, last] = [sources[0], sources.at(-1)];
    if (first && last) this.edit(first, last);
    else this.say(`“${words.join(" ")}” isn’t printed with this sample data`);
  }

  private known(): Places | undefined {
    if (this.texts !== undefined) this.places ??= new Places(this.texts);
    return this.places;
  }

  /** Selects what printed the word that was clicked, or moves the editor to its line. */
  private goToSource(event: MouseEvent) {
    const page = (event.target as Element).closest<HTMLElement>(".viewer__page");
    if (!page) return;
    const bounds = page.getBoundingClientRect();
    const x = (10_000 * (event.clientX - bounds.left)) / bounds.width;
    const y = (10_000 * (event.clientY - bounds.top)) / bounds.height;
    const source = this.known()?.sourceAt(this.pages().indexOf(page) + 1, x, y);
    this.unmark();
    if (!source) return this.say("No text of the template here");
    this.edit(source, source);
  }

  /**
   * Selects what printed the words in a rectangle of a page, or shows the page if that is unknown. `rectangle` is left,
   * bottom, right and top in points from the lower left corner, or empty.
   */
  goToPlace(number: number, rectangle: readonly number[]) {
    const page = this.pages()[number - 1];
    const size = page && sizeOf(page);
    const [left, bottom, right, top] = rectangle;
    this.unmark();
    if (size && left !== undefined && bottom !== undefined && right !== undefined && top !== undefined) {
      const [across, along] = [10_000 / (72 * size.width), 10_000 / (72 * size.height)];
      const box = [left * across, 10_000 - top * along, (right - left) * across, (top - bottom) * along] as const;
      const sources = this.known()?.sourcesIn(number, box) ?? [];
      const [first, last] = [sources[0], sources.at(-1)];
      if (first && last) return this.edit(first, last);
    }
    this.select("preview");
    this.goTo(number);
  }

  /** Selects what printed two words and everything between them in the line of the first, or moves the editor there. */
  private edit(first: Source, last: Source) {
    this.select("html");
    const template = this.template();
    const { line } = first;
    const text = template.split("\n", line).at(-1)!;
    const span = spanOf(template, first, plain);
    const end = (last.line === line && spanOf(template, last, plain)) || span;
    // In characters, from 1.
    const column = (offset: number) => Array.from(text.slice(0, offset)).length + 1;
    const columns = span && end ? `${column(Math.min(span.from, end.from))}-${column(Math.max(span.to, end.to))}` : "1";
    this.form.querySelector("code-editor:has([name=content])")?.setAttribute("go-to", `${line}:${columns}`);
  }

  private template(): string {
    return this.form.querySelector<HTMLTextAreaElement>("textarea[name=content]")!.value;
  }

  /** Outlines what a line of the template printed, and scrolls to the first place. */
  private show(wanted: number) {
    this.unmark();
    const { line, marks } = this.known()?.marksOf(wanted) ?? { line: wanted, marks: [] };
    if (marks.length === 0) return this.say(`Line ${line} prints no text`);
    this.select("preview");
    const pages = this.pages();
    for (const { page, box } of marks) {
      const mark = element("div", "viewer__mark");
      const [left, top, width, height] = box.map((part) => `${part / 100}%`) as [string, string, string, string];
      Object.assign(mark.style, { left, top, width, height });
      pages[page - 1]?.append(mark);
    }
    const places = marks.length === 1 ? "1 place" : `${marks.length} places`;
    this.say(`Line ${line}: ${places}, first on page ${marks[0]!.page}`);
    this.stage.querySelector(".viewer__mark")?.scrollIntoView({ block: "center" });
  }

  private unmark() {
    for (const mark of this.stage.querySelectorAll(".viewer__mark")) mark.remove();
    this.say("");
  }

  private say(message: string) {
    this.message.textContent = message;
  }

  /** Selects a pane where only one is visible. */
  private select(pane: "html" | "preview") {
    this.form.querySelector<HTMLInputElement>(`[name=pane][value=${pane}]`)?.click();
  }

  private addTools() {
    const names = new Map<Zoom, string>([
      ["width", "Fit width"],
      ["page", "Fit page"],
      ...LEVELS.map((level): [Zoom, string] => [level, `${level} %`]),
    ]);
    for (const [zoom, name] of names) this.sizes.append(new Option(name, String(zoom)));
    this.sizes.value = String(this.zoom);
    this.sizes.setAttribute("aria-label", "Zoom");
    this.sizes.addEventListener("change", () => this.setZoom(parseZoom(this.sizes.value)));
    const overview = this.toggle("pages", "Page overview", "preview-overview", (isOn) => {
      this.overview.dom.hidden = !isOn;
      this.update();
    });
    overview.setAttribute("aria-controls", this.overview.dom.id);
    const margins = this.toggle("margins", "Show margins", "preview-margins", (isOn) => {
      this.host.classList.toggle("viewer__body--margins", isOn);
      this.update();
    });
    this.form
      .querySelector(".viewer__tools")!
      .append(
        element("div", "viewer__group", this.previous, this.position, this.next),
        element("div", "viewer__group", this.smaller, this.sizes, this.larger, margins, overview),
      );
  }

  /** Returns a button for something that is on or off, which the browser remembers. */
  private toggle(glyph: Glyph, label: string, setting: string, show: (isOn: boolean) => void): HTMLElement {
    const set = (isOn: boolean) => {
      created.setAttribute("aria-pressed", String(isOn));
      show(isOn);
    };
    const created = button(glyph, label, () => {
      const isOn = created.getAttribute("aria-pressed") !== "true";
      remember(setting, isOn ? "on" : "off");
      set(isOn);
    });
    set(recall(setting) === "on");
    return created;
  }

  private pages(): HTMLElement[] {
    return Array.from(this.stage.querySelectorAll<HTMLElement>(".viewer__page"));
  }

  /** Shows another page. */
  goTo(page: number) {
    const pages = this.pages();
    const shown = pages[Math.min(Math.max(page, 1), pages.length) - 1];
    if (!shown) return;
    shown.scrollIntoView();
    this.soon();
  }

  private step(direction: "in" | "out") {
    const zoom = nextZoom(this.scale, direction);
    if (zoom !== undefined) this.setZoom(zoom);
  }

  private setZoom(zoom: Zoom) {
    this.zoom = zoom;
    remember("preview-zoom", String(zoom));
    this.sizes.value = String(zoom);
    const { stage } = this;
    const middle = (stage.scrollTop + stage.clientHeight / 2) / stage.scrollHeight;
    this.layOut();
    stage.scrollTop = middle * stage.scrollHeight - stage.clientHeight / 2;
  }

  /** Sizes the pages, and requests pictures in the resolution that this needs. */
  private layOut() {
    const { stage } = this;
    // The pane isn't shown.
    if (stage.clientWidth === 0) return;
    const style = getComputedStyle(stage);
    // On small screens, the stage is as high as its pages.
    const height = WIDE.matches ? stage.clientHeight : innerHeight;
    const room = {
      width: stage.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight),
      height: height - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom),
    };
    const pages = this.pages();
    const sizes = pages.flatMap((page) => sizeOf(page) ?? []);
    const largest = sizes.length > 0 ? sizes.reduce(larger) : UNKNOWN;
    const { scale, dots } = measure(this.zoom, largest, room, devicePixelRatio);
    this.scale = scale;
    for (const page of pages) {
      const width = `${(sizeOf(page) ?? largest).width * STYLE_DOTS * scale}px`;
      if (page.style.inlineSize !== width) page.style.inlineSize = width;
    }
    this.smaller.disabled = nextZoom(scale, "out") === undefined;
    this.larger.disabled = nextZoom(scale, "in") === undefined;
    const field = this.field("paper-resolution");
    if (field.value === String(dots)) return;
    field.value = String(dots);
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }

  private field(name: string): HTMLInputElement {
    return this.form.elements.namedItem(name) as HTMLInputElement;
  }

  /** Updates everything after the pages have changed. */
  private update() {
    this.layOut();
    this.outline();
    this.follow();
  }

  private soon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.follow());
  }

  /** Finds the visible page: the last one that begins above the middle of the stage. */
  private follow() {
    const pages = this.pages();
    const bounds = this.stage.getBoundingClientRect();
    const middle = (Math.max(bounds.top, 0) + Math.min(bounds.bottom, innerHeight)) / 2;
    const index = pages.findLastIndex((page) => page.getBoundingClientRect().top < middle);
    this.current = Math.max(index, 0) + 1;
    this.field("visible-page").value = String(this.current);
    const count = pages.length;
    this.position.textContent = count === 0 ? "No page yet" : `Page ${this.current} of ${count}`;
    this.previous.disabled = this.current <= 1;
    this.next.disabled = this.current >= count;
    if (!this.overview.dom.hidden) this.overview.show(pages.map(pictureOf), this.current);
  }

  /** Outlines the margins, if they are shown. */
  private outline() {
    if (!this.host.classList.contains("viewer__body--margins")) return;
    const rules = pageRules(this.template());
    const [top, right, bottom, left] = SIDES.map((_, side) => {
      const millimetres = Number(this.field(`paper-margin-${side}`).value.trim().replace(",", "."));
      return millimetres > 0 ? millimetres / 25.4 : 0;
    }) as [number, number, number, number];
    for (const [index, page] of this.pages().entries()) {
      const size = sizeOf(page);
      const margins = size && marginsOf(index + 1, size, rules, { top, right, bottom, left });
      page.classList.toggle("viewer__page--margins", margins !== undefined);
      for (const side of margins ? SIDES : []) {
        const whole = side === "top" || side === "bottom" ? size!.height : size!.width;
        page.style.setProperty(`--margin-${side}`, `${(100 * margins![side]) / whole}%`);
      }
    }
  }

  private press(event: KeyboardEvent) {
    const { altKey, code, ctrlKey, key, metaKey } = event;
    if (!altKey || ctrlKey || metaKey || document.querySelector("dialog[open]")) return;
    // With Option, keyboards of Apple type other characters.
    if (key === "+" || code === "Equal" || code === "NumpadAdd") this.step("in");
    else if (key === "-" || code === "Minus" || code === "NumpadSubtract") this.step("out");
    else if (code === "Digit0" || code === "Numpad0") this.setZoom(100);
    else return;
    event.preventDefault();
  }
}

/** Returns the words that the address names, `#words-Terms%20of%20payment`, or none. */
function namedWords(): string[] {
  const named = /^#words-(.+)$/.exec(location.hash)?.[1];
  try {
    return decodeURIComponent(named ?? "")
      .split(/\s+/, MOST_NAMED_WORDS)
      .filter(Boolean);
  } catch {
    return [];
  }
}

function pictureOf(page: HTMLElement): HTMLImageElement | undefined {
  return page.querySelector("img") ?? undefined;
}

/** Returns the size of a page in inches, or `undefined` if it has no picture yet. */
function sizeOf(page: HTMLElement): Size | undefined {
  const picture = pictureOf(page);
  const dots = Number(picture?.dataset.dots);
  if (!picture || !(dots > 0)) return undefined;
  const pixels = (name: string) => Number(picture.getAttribute(name));
  return { width: pixels("width") / dots, height: pixels("height") / dots };
}

function larger(a: Size, b: Size): Size {
  return { width: Math.max(a.width, b.width), height: Math.max(a.height, b.height) };
}
