// `<page-viewer>` around the rendered pages of a template: toolbar, zoom, page overview, margins, and the way between a
// page and its source. Without JavaScript, there is no preview.

import type { Viewer } from "./page-viewer/viewer.ts";

/** Loads the viewer on demand: only the template editor contains one. */
const load = () => import("./page-viewer/viewer.ts");

/**
 * Attributes: `texts`, the text of template and pages as JSON (see places.ts); `go-to`, the number of a page, or a place
 * on it whose source is shown: the number with left, bottom, right and top in points from the lower left corner,
 * `3 57 700 90 713`.
 *
 * The address of the page may name words whose source is selected once the pages are known: `#words-Terms%20of%20payment`.
 */
class PageViewer extends HTMLElement {
  static observedAttributes = ["go-to", "texts"];

  private viewer: Viewer | undefined;

  connectedCallback() {
    if (!this.viewer) void this.upgrade();
  }

  disconnectedCallback() {
    this.viewer?.close();
    this.viewer = undefined;
  }

  attributeChangedCallback(name: string) {
    if (name === "texts") this.viewer?.read(this.getAttribute("texts"));
    else this.go();
  }

  private go() {
    const [page, ...rectangle] = (this.getAttribute("go-to") ?? "").split(" ").map(Number);
    if (page) this.viewer?.goToPlace(page, rectangle);
  }

  private async upgrade() {
    const { open } = await load();
    if (!this.isConnected || this.viewer) return;
    this.viewer = open(this);
    this.viewer.read(this.getAttribute("texts"));
  }
}

customElements.define("page-viewer", PageViewer);
