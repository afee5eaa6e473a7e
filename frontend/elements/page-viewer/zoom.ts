// The zoom of pages, and the resolution of their pictures.

/** A fit, or a percentage of the true size: CSS inches of 96 pixels. */
export type Zoom = "page" | "width" | number;

/** Steps of the zoom, in per cent. */
export const LEVELS = [50, 75, 100, 125, 150, 200] as const;

/** CSS pixels per inch. */
export const STYLE_DOTS = 96;
/** Limits of the resolution that the service offers, in pixels per inch. */
const FEWEST_DOTS = 72;
const MOST_DOTS = 192;

/** A size in any unit. */
export interface Size {
  width: number;
  height: number;
}

/** Parses a remembered zoom. Anything unknown fits the width. */
export function parseZoom(text: string | undefined): Zoom {
  const level = LEVELS.find((level) => String(level) === text);
  return level ?? (text === "page" ? "page" : "width");
}

/** Returns the next step, or `undefined` if there is none. `scale` is the present scale of a page. */
export function nextZoom(scale: number, direction: "in" | "out"): Zoom | undefined {
  const percent = Math.round(100 * scale);
  return direction === "in" ? LEVELS.find((level) => level > percent) : LEVELS.findLast((level) => level < percent);
}

/**
 * Returns the scale of pages and the resolution of their pictures. `page` is the largest page in inches, `room` the size
 * of the viewer in CSS pixels. Fitted pages get a scale at which pixels of the picture are pixels of the screen.
 */
export function measure(zoom: Zoom, page: Size, room: Size, ratio: number): { scale: number; dots: number } {
  const wide = room.width / page.width / STYLE_DOTS;
  const high = room.height / page.height / STYLE_DOTS;
  const wanted = zoom === "width" ? wide : zoom === "page" ? Math.min(wide, high) : zoom / 100;
  const ideal = STYLE_DOTS * wanted * ratio;
  const whole = typeof zoom === "number" ? Math.round(ideal) : Math.floor(ideal);
  const dots = Math.min(Math.max(whole, FEWEST_DOTS), MOST_DOTS);
  const isExact = dots === whole && typeof zoom !== "number";
  return { scale: isExact ? dots / STYLE_DOTS / ratio : wanted, dots };
}
