// The find bar: CodeMirror's search with our fields, and the number of matches.

import {
  closeSearchPanel,
  findNext,
  findPrevious,
  getSearchQuery,
  replaceAll,
  replaceNext,
  search,
  SearchQuery,
  setSearchQuery,
} from "@codemirror/search";
import type { Extension } from "@codemirror/state";
import { type EditorView, type Panel, runScopeHandlers, type ViewUpdate } from "@codemirror/view";

import { button, element, type Glyph } from "./dom.ts";

/** Most matches that are counted. */
const MOST_MATCHES = 999;

/** Returns the extension with the find bar of an editor. */
export function findBar(label: string): Extension {
  return search({ top: true, createPanel: (view) => new FindBar(view, label) });
}

/** Options of the search that are on or off. */
type Option = "caseSensitive" | "regexp" | "wholeWord";

class FindBar implements Panel {
  readonly top = true;
  readonly dom: HTMLElement;
  private readonly wanted: HTMLInputElement;
  private readonly replacement: HTMLInputElement;
  private readonly options: Map<Option, HTMLButtonElement>;
  private readonly count = element("span", "find-bar__count");

  constructor(
    private readonly view: EditorView,
    label: string,
  ) {
    const { search, replace } = getSearchQuery(view.state);
    this.wanted = this.field("Find", search);
    this.wanted.setAttribute("main-field", "true");
    this.replacement = this.field("Replace with", replace);
    this.options = new Map([
      ["caseSensitive", this.option("caseSensitive", "case", "Match case")],
      ["wholeWord", this.option("wholeWord", "word", "Whole words")],
      ["regexp", this.option("regexp", "regexp", "Regular expression")],
    ]);
    this.count.setAttribute("role", "status");
    this.dom = element(
      "div",
      "find-bar",
      element("div", "find-bar__field", this.wanted, this.count, ...this.options.values()),
      element(
        "div",
        "find-bar__actions",
        button("previous", "Previous match", () => findPrevious(view)),
        button("next", "Next match", () => findNext(view)),
        button("close", "Close", () => {
          closeSearchPanel(view);
          view.focus();
        }),
      ),
      element("div", "find-bar__field", this.replacement),
      element(
        "div",
        "find-bar__actions",
        button({ text: "Replace" }, "Replace", () => replaceNext(view)),
        button({ text: "All" }, "Replace all", () => replaceAll(view)),
      ),
    );
    this.dom.setAttribute("role", "search");
    this.dom.setAttribute("aria-label", `Find in ${label}`);
    this.dom.addEventListener("keydown", (event) => this.press(event));
    this.show();
  }

  mount() {
    this.wanted.select();
  }

  update(update: ViewUpdate) {
    const isNew = update.transactions.some(({ effects }) => effects.some((effect) => effect.is(setSearchQuery)));
    if (isNew || update.docChanged || update.selectionSet) this.show();
  }

  /** Shows the query, which commands can change, and the number of matches. */
  private show() {
    const query = getSearchQuery(this.view.state);
    if (this.wanted.value !== query.search) this.wanted.value = query.search;
    if (this.replacement.value !== query.replace) this.replacement.value = query.replace;
    for (const [option, shown] of this.options) shown.setAttribute("aria-pressed", String(query[option]));
    this.count.textContent = query.search === "" ? "" : this.matches(query);
  }

  private matches(query: SearchQuery): string {
    if (!query.valid) return "Invalid";
    const { from, to } = this.view.state.selection.main;
    let [count, current] = [0, 0];
    const cursor = query.getCursor(this.view.state);
    for (let match = cursor.next(); !match.done; match = cursor.next()) {
      count += 1;
      if (match.value.from === from && match.value.to === to) current = count;
      if (count === MOST_MATCHES) return `${count}+`;
    }
    if (count === 0) return "No matches";
    return current > 0 ? `${current} of ${count}` : String(count);
  }

  private commit(change: Partial<Record<Option, boolean>> = {}) {
    const { caseSensitive, regexp, wholeWord } = getSearchQuery(this.view.state);
    const spec = { caseSensitive, regexp, wholeWord, search: this.wanted.value, replace: this.replacement.value };
    this.view.dispatch({ effects: setSearchQuery.of(new SearchQuery({ ...spec, ...change })) });
  }

  private press(event: KeyboardEvent) {
    if (runScopeHandlers(this.view, event, "search-panel")) return event.preventDefault();
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    if (event.target === this.replacement) replaceNext(this.view);
    else if (event.shiftKey) findPrevious(this.view);
    else findNext(this.view);
  }

  private field(label: string, value: string): HTMLInputElement {
    const field = element("input", "input");
    // The field belongs to no form, which Enter would submit.
    field.setAttribute("form", "");
    field.setAttribute("aria-label", label);
    field.autocomplete = "off";
    field.spellcheck = false;
    field.placeholder = label;
    field.value = value;
    field.addEventListener("input", (event) => {
      event.stopPropagation();
      this.commit();
    });
    return field;
  }

  private option(option: Option, glyph: Glyph, label: string): HTMLButtonElement {
    return button(glyph, label, () => this.commit({ [option]: !getSearchQuery(this.view.state)[option] }));
  }
}
