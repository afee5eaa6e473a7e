// <page-comparison data-address data-compared>: a set of sample data whose comparison is loaded once its details are
// open. The comparison is part of the page at the address, so that the server renders everything that is shown.
// Without JavaScript, there is a link to that page.

import { fetchPage } from "./live-part.ts";

/** The end of the last request. Comparisons take long, so that they are requested one by one. */
let last: Promise<void> = Promise.resolve();

class PageComparison extends HTMLElement {
  #loading = false;

  connectedCallback(): void {
    // `toggle` doesn't bubble.
    this.querySelector("details")?.addEventListener("toggle", () => this.#open());
    this.#open();
  }

  #open(): void {
    const { compared } = this.dataset;
    if (compared !== undefined || this.#loading || !this.#details?.open) return;
    this.#loading = true;
    this.#say("Rendering both versions…");
    last = last.then(() => this.#load());
  }

  async #load(): Promise<void> {
    // Closed while it waited.
    const page = this.#details?.open ? await fetchPage(this.dataset.address) : undefined;
    const found = page?.querySelector<HTMLElement>("page-comparison[data-compared]");
    this.#loading = false;
    if (!found) {
      this.#say(this.#details?.open ? "The pages couldn’t be compared. Try again." : "");
      return;
    }
    for (const part of [".page-comparison__summary", ".page-comparison__body"]) {
      const next = found.querySelector(part);
      if (next) this.querySelector(part)?.replaceWith(next);
    }
    this.dataset.compared = "";
    this.#say("");
  }

  get #details(): HTMLDetailsElement | null {
    return this.querySelector("details");
  }

  #say(words: string): void {
    const status = this.querySelector(".page-comparison__status");
    if (status) status.textContent = words;
  }
}

customElements.define("page-comparison", PageComparison);
