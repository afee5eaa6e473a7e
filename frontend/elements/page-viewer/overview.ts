// The page overview: small pictures of all pages, with their numbers.

import { button, element } from "../code-editor/dom.ts";

export class Overview {
  private readonly list = element("ol", "thumbs viewer__thumbs");

  constructor(
    readonly dom: HTMLElement,
    private readonly goTo: (page: number) => void,
  ) {
    dom.id = "preview-overview";
    dom.setAttribute("role", "navigation");
    dom.setAttribute("aria-label", "Page overview");
    dom.hidden = true;
    dom.append(this.list);
    this.list.addEventListener("keydown", (event) => this.press(event));
  }

  /** Shows these pictures, `undefined` for pages without one, and marks the current page. */
  show(pictures: readonly (HTMLImageElement | undefined)[], current: number) {
    const items = this.list.children;
    while (items.length > pictures.length) items[items.length - 1]!.remove();
    while (items.length < pictures.length) this.list.append(this.item(items.length + 1));
    for (const [at, picture] of pictures.entries()) {
      const link = this.links()[at]!;
      this.draw(link, picture);
      this.mark(link, at + 1 === current);
    }
  }

  private links(): HTMLButtonElement[] {
    return Array.from(this.list.querySelectorAll("button"));
  }

  private item(page: number): HTMLElement {
    const link = button({ text: String(page) }, String(page), () => this.goTo(page));
    link.className = "thumbs__item";
    link.setAttribute("aria-label", `Page ${page}`);
    link.prepend(element("span", "viewer__thumb"));
    return element("li", "", link);
  }

  private draw(link: HTMLElement, picture: HTMLImageElement | undefined) {
    const frame = link.querySelector(".viewer__thumb")!;
    const shown = frame.querySelector("img");
    if (!picture) return shown?.remove();
    const thumb = shown ?? element("img", "page-image");
    if (thumb.src !== picture.src) thumb.src = picture.src;
    thumb.alt = "";
    thumb.width = picture.width;
    thumb.height = picture.height;
    if (!shown) frame.append(thumb);
  }

  private mark(link: HTMLElement, isCurrent: boolean) {
    // One stop for the Tab key, like a list.
    link.tabIndex = isCurrent ? 0 : -1;
    if (isCurrent === link.hasAttribute("aria-current")) return;
    if (isCurrent) {
      link.setAttribute("aria-current", "page");
      this.reveal(link);
    } else link.removeAttribute("aria-current");
  }

  /** Scrolls the overview, but nothing around it. */
  private reveal(link: HTMLElement) {
    const [item, room] = [link.getBoundingClientRect(), this.dom.getBoundingClientRect()];
    const before = (start: number, end: number, from: number, to: number) =>
      start < from ? start - from : Math.max(end - to, 0);
    this.dom.scrollBy({
      left: before(item.left, item.right, room.left, room.right),
      top: before(item.top, item.bottom, room.top, room.bottom),
    });
  }

  private press(event: KeyboardEvent) {
    const links = this.links();
    const at = links.indexOf(event.target as HTMLButtonElement);
    const last = links.length - 1;
    const to = { ArrowUp: at - 1, ArrowLeft: at - 1, ArrowDown: at + 1, ArrowRight: at + 1, Home: 0, End: last }[
      event.key
    ];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(to, 0), last);
    this.goTo(next + 1);
    links[next]!.focus({ preventScroll: true });
  }
}
