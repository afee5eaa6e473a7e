// `<page-viewer>` around the rendered pages of a template: toolbar, zoom, page overview, margins, and the way between a
// page and its source. Without JavaScript, there is no preview.

import type { Viewer } from "./page-viewer/viewer.ts";

/** Loads the viewer on demand: only the template editor contains one. */
const load = () => import("./page-viewer/viewer.ts");

/** Attribute: `texts`, the text of template and pages as JSON (see places.ts). */
class PageViewer extends HTMLElement {
  static observedAttributes = ["texts"];

  private viewer: Viewer | undefined;

  connectedCallback() {
    if (!this.viewer) void this.upgrade();
  }

  disconnectedCallback() {
    this.viewer?.close();
    this.viewer = undefined;
  }

  attributeChangedCallback() {
    this.viewer?.read(this.getAttribute("texts"));
  }

  private async upgrade() {
    const { open } = await load();
    if (!this.isConnected || this.viewer) return;
    this.viewer = open(this);
    this.viewer.read(this.getAttribute("texts"));
  }
}

customElements.define("page-viewer", PageViewer);
