// Elements in the style of the dashboard.

/** Icons on a grid of 16 units, as those of app/src/ui/icon.rs. */
const GLYPHS = {
  case: "M1.5 12.5 5 3.5l3.5 9M2.75 9.75h4.5M14 8v4.5M14 10.25a1.75 2 0 1 1-3.5 0a1.75 2 0 0 1 3.5 0z",
  close: "m4 4 8 8M12 4l-8 8",
  find: "M2.75 7a4.25 4.25 0 1 0 8.5 0a4.25 4.25 0 1 0 -8.5 0zM10.25 10.25 14 14",
  help: "M5.25 5.75a2.75 2.75 0 1 1 4 2.45C8.3 8.7 8 9.2 8 10.25M8 13v.1",
  left: "m10 4-4 4 4 4",
  less: "M3 8h10",
  locate: "M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3M4 8a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
  margins:
    "M2.5 1.75h11v12.5h-11zM5.25 4.5h1.5M9.25 4.5h1.5M5.25 11.5h1.5M9.25 11.5h1.5M5.25 4.5v1.5M5.25 10v1.5M10.75 4.5v1.5M10.75 10v1.5",
  more: "M8 3v10M3 8h10",
  next: "m4 6 4 4 4-4",
  pages: "M2 2h4.5v5H2zM2 9h4.5v5H2zM9.5 2H14v12H9.5z",
  previous: "m4 10 4-4 4 4",
  regexp: "M3.5 12h.1M9.75 3.5v6M7 5l5.5 3M12.5 5 7 8",
  right: "m6 4 4 4-4 4",
  word: "M2 3.5v9M14 3.5v9M5 6h6v4H5z",
  wrap: "M2 3.5h12M2 8h10a2.25 2.25 0 0 1 0 4.5H8.5M2 12.5h2.5M10 10.5l-2 2 2 2",
};

export type Glyph = keyof typeof GLYPHS;

const SVG = "http://www.w3.org/2000/svg";

/** Returns an element with its content. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(name);
  if (className) created.className = className;
  created.append(...content);
  return created;
}

/** Returns a small button with an icon or a text. */
export function button(content: Glyph | { text: string }, label: string, press: () => void): HTMLButtonElement {
  const isIcon = typeof content === "string";
  const shape = isIcon ? "button--icon" : "";
  const created = element("button", `button button--quiet button--small ${shape}`.trim());
  created.type = "button";
  created.append(isIcon ? icon(content) : content.text);
  if (isIcon || content.text !== label) {
    created.setAttribute("aria-label", label);
    created.title = label;
  }
  created.addEventListener("click", press);
  return created;
}

function icon(glyph: Glyph): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", GLYPHS[glyph]);
  svg.append(path);
  return svg;
}
