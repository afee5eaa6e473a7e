// <command-palette>: a button with a dialog that finds pages, actions, templates and renders while the user types, as a
// combobox with a list (WAI-ARIA Authoring Practices). The results are those of the page that the dialog's form leads
// to. Without JavaScript, the form leads there.

import { fetchPage } from "./live-part.ts";
import { IS_APPLE } from "./platform.ts";

/** Time after a keystroke, during which further ones are awaited. */
const SEARCH_AFTER_MS = 120;

class CommandPalette extends HTMLElement {
  #dialog!: HTMLDialogElement;
  #field!: HTMLInputElement;
  #results!: HTMLElement;
  #status!: HTMLElement;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #active: HTMLAnchorElement | undefined;

  connectedCallback(): void {
    this.#dialog = this.querySelector("dialog")!;
    this.#field = this.querySelector("input")!;
    this.#results = this.querySelector(".palette__results")!;
    this.#status = this.querySelector("[role=status]")!;
    const keys = this.querySelector("kbd")!;
    keys.textContent = IS_APPLE ? "⌘K" : "Ctrl K";
    keys.hidden = false;
    this.querySelector("button")!.setAttribute("aria-keyshortcuts", IS_APPLE ? "Meta+K" : "Control+K");

    this.#results.id = "palette-results";
    this.#field.role = "combobox";
    this.#field.setAttribute("aria-controls", this.#results.id);
    this.#field.setAttribute("aria-autocomplete", "list");
    this.#field.setAttribute("aria-expanded", "false");

    document.addEventListener("keydown", (event) => this.#toggle(event));
    this.#field.addEventListener("focus", () => {
      this.#field.select();
      void this.#search();
    });
    this.#field.addEventListener("input", () => {
      clearTimeout(this.#waiting);
      // Until there are results, Enter leads to their page.
      this.#activate(undefined);
      this.#waiting = setTimeout(() => void this.#search(), SEARCH_AFTER_MS);
    });
    this.#field.addEventListener("keydown", (event) => this.#move(event));
    this.querySelector("form")!.addEventListener("submit", (event) => {
      if (!this.#active) return;
      event.preventDefault();
      this.#active.click();
    });
    this.querySelector("form")!.addEventListener("reset", (event) => {
      event.preventDefault();
      this.#field.value = "";
      // The focus starts the search.
      this.#field.focus();
    });
    // A link to a dialog of this page doesn't leave it.
    this.#results.addEventListener("click", () => this.#dialog.close());
    // Clicks beside the dialog hit its backdrop.
    this.#dialog.addEventListener("click", (event) => {
      if (event.target === this.#dialog) this.#dialog.close();
    });
  }

  #toggle(event: KeyboardEvent): void {
    const wanted = (IS_APPLE ? event.metaKey : event.ctrlKey) && !event.shiftKey && !event.altKey;
    if (!wanted || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (this.#dialog.open) this.#dialog.close();
    else if (!document.querySelector("dialog:modal")) this.#dialog.showModal();
  }

  async #search(): Promise<void> {
    clearTimeout(this.#waiting);
    const search = this.#field.value;
    const page = await fetchPage(`${this.#field.form!.action}?${new URLSearchParams({ q: search })}`);
    // A later search shows its own results.
    if (search !== this.#field.value) return;
    const results = page?.getElementById("results");
    if (results) this.#results.replaceChildren(...results.childNodes);
    else this.#results.textContent = "The search failed. Press Enter to try again on a page of its own.";
    const options = this.#options();
    for (const element of this.#results.querySelectorAll<HTMLElement>("h2, ul, li")) element.role = "presentation";
    for (const group of this.#results.querySelectorAll<HTMLElement>("section")) {
      group.role = "group";
      group.ariaLabel = group.querySelector("h2")!.textContent;
    }
    for (const [index, option] of options.entries()) {
      option.role = "option";
      option.id = `palette-result-${index}`;
      option.tabIndex = -1;
    }
    this.#results.role = options.length > 0 ? "listbox" : null;
    this.#results.ariaLabel = options.length > 0 ? "Results" : null;
    this.#field.setAttribute("aria-expanded", `${options.length > 0}`);
    if (results) this.#status.textContent = options.length === 1 ? "1 result" : `${options.length} results`;
    else this.#status.textContent = this.#results.textContent;
    this.#activate(options[0]);
  }

  #options(): HTMLAnchorElement[] {
    return [...this.#results.querySelectorAll("a")];
  }

  #move(event: KeyboardEvent): void {
    // In a search field, browsers first clear the text.
    if (event.key === "Escape") {
      event.preventDefault();
      this.#dialog.close();
    }
    const options = this.#options();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || options.length === 0) return;
    event.preventDefault();
    const place = this.#active ? options.indexOf(this.#active) : -1;
    this.#activate(options[(place + step + options.length) % options.length]);
  }

  #activate(option: HTMLAnchorElement | undefined): void {
    this.#active?.setAttribute("aria-selected", "false");
    this.#active = option;
    if (!option) {
      this.#field.removeAttribute("aria-activedescendant");
      return;
    }
    option.setAttribute("aria-selected", "true");
    this.#field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }
}

customElements.define("command-palette", CommandPalette);
