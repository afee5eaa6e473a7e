// `<pane-splitter axis="columns" label="Width of the editors">`: a handle between two panes of the grid around it. The
// share of the first pane, in per cent, is the grid's custom property `--split-columns` or `--split-rows`, and the browser
// remembers it. Without JavaScript, the panes keep their shares.

import { recall, remember } from "./remembered.ts";

/** Smallest size of a pane in pixels. The style sheet has the same minima. */
const LEAST = { columns: 288, rows: 112 };
/** Shares until they are changed. */
const INITIAL = { columns: 50, rows: 63.6 };
/** Change by an arrow key, in per cent. */
const STEP = 2;

class PaneSplitter extends HTMLElement {
  private get axis() {
    return this.getAttribute("axis") === "rows" ? "rows" : "columns";
  }

  private get setting() {
    return `pane-${this.axis}`;
  }

  connectedCallback() {
    this.setAttribute("role", "separator");
    this.setAttribute("aria-orientation", this.axis === "columns" ? "vertical" : "horizontal");
    this.setAttribute("aria-label", this.getAttribute("label") ?? "");
    this.title = "Drag to resize; double-click to reset";
    this.tabIndex = 0;
    const share = Number(recall(this.setting));
    this.show(share > 0 && share < 100 ? share : INITIAL[this.axis]);
    this.addEventListener("pointerdown", this.grab);
    this.addEventListener("pointermove", this.drag);
    this.addEventListener("dblclick", this.reset);
    this.addEventListener("keydown", this.press);
  }

  private readonly grab = (event: PointerEvent) => {
    if (event.button !== 0) return;
    this.setPointerCapture(event.pointerId);
    this.focus();
    // Selects no text.
    event.preventDefault();
  };

  private readonly drag = (event: PointerEvent) => {
    if (!this.hasPointerCapture(event.pointerId)) return;
    const bounds = this.parentElement!.getBoundingClientRect();
    const share =
      this.axis === "columns"
        ? (event.clientX - bounds.left) / bounds.width
        : (event.clientY - bounds.top) / bounds.height;
    this.move(100 * share);
  };

  private readonly reset = () => {
    this.show(INITIAL[this.axis]);
    remember(this.setting, undefined);
  };

  private readonly press = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const [less, more] = this.axis === "columns" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const now = Number(this.getAttribute("aria-valuenow"));
    const share = { [less!]: now - STEP, [more!]: now + STEP, Home: 0, End: 100 }[event.key];
    if (share === undefined) return;
    event.preventDefault();
    this.move(share);
  };

  private move(share: number) {
    this.show(share);
    remember(this.setting, this.getAttribute("aria-valuenow")!);
  }

  private show(share: number) {
    const { axis } = this;
    const { width, height } = this.parentElement!.getBoundingClientRect();
    const size = axis === "columns" ? width : height;
    // On small screens, the panes are not beside each other.
    const least = size > 2 * LEAST[axis] ? Math.ceil((100 * LEAST[axis]) / size) : 0;
    const rounded = Math.round(Math.min(Math.max(share, least), 100 - least) * 10) / 10;
    this.parentElement!.style.setProperty(`--split-${axis}`, String(rounded));
    this.setAttribute("aria-valuenow", String(rounded));
    this.setAttribute("aria-valuemin", String(least));
    this.setAttribute("aria-valuemax", String(100 - least));
    this.setAttribute("aria-valuetext", `${Math.round(rounded)} %`);
  }
}

customElements.define("pane-splitter", PaneSplitter);
