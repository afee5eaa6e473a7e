// The margins of pages: those of `@page` in the template's style sheets, or else those of the preview's options.

/** Margins in inches. */
export interface Margins {
  top: number;
  right: number;
  bottom: number;
  left: number;
}

const SIDES = ["top", "right", "bottom", "left"] as const;
const MM = 1 / 25.4;
/** Inches of each absolute unit. */
const UNITS: Record<string, number> = { in: 1, cm: 10 * MM, mm: MM, q: MM / 4, pt: 1 / 72, pc: 1 / 6, px: 1 / 96 };

/** A margin of a rule, as written. */
type Declared = Record<(typeof SIDES)[number], string>;

export interface PageRule {
  /** `:first`, `:left` and so on; empty for all pages. */
  selector: string;
  margins: Declared;
}

/** Returns the rules of `@page` in a template. Rules of named pages are left out: which pages they apply to isn't known. */
export function pageRules(template: string): PageRule[] {
  if (!template.includes("@page")) return [];
  const parsed = new DOMParser().parseFromString(template, "text/html");
  const rules: PageRule[] = [];
  for (const style of parsed.querySelectorAll("style")) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style.textContent ?? "");
    collect(sheet.cssRules, rules);
  }
  // More specific rules take precedence, and later ones among equals.
  return rules.sort((a, b) => weight(a.selector) - weight(b.selector));
}

function collect(list: CSSRuleList, rules: PageRule[]) {
  for (const rule of list) {
    if (rule instanceof CSSPageRule) {
      const selector = rule.selectorText.trim().toLowerCase();
      const { style } = rule;
      const margins = {
        top: style.getPropertyValue("margin-top"),
        right: style.getPropertyValue("margin-right"),
        bottom: style.getPropertyValue("margin-bottom"),
        left: style.getPropertyValue("margin-left"),
      };
      if (/^(:(first|left|right))?$/.test(selector)) rules.push({ selector, margins });
    } else if (rule instanceof CSSMediaRule && /\b(all|print)\b/.test(rule.conditionText)) {
      collect(rule.cssRules, rules);
    }
  }
}

function weight(selector: string): number {
  return selector === "" ? 0 : selector === ":first" ? 2 : 1;
}

/**
 * Returns the margins of a page, from 1, of this size in inches. `options` are the margins of the preview's options.
 * Returns `undefined` if one has a unit that depends on the text.
 */
export function marginsOf(
  page: number,
  size: { width: number; height: number },
  rules: readonly PageRule[],
  options: Margins,
): Margins | undefined {
  const margins = { ...options };
  // The first page is a right one.
  const matches = { "": true, ":first": page === 1, ":left": page % 2 === 0, ":right": page % 2 === 1 };
  for (const { selector, margins: declared } of rules) {
    if (!matches[selector as keyof typeof matches]) continue;
    for (const side of SIDES) {
      if (declared[side] === "" || declared[side] === "auto") continue;
      const whole = side === "top" || side === "bottom" ? size.height : size.width;
      const inches = inchesOf(declared[side], whole);
      if (inches === undefined) return undefined;
      margins[side] = inches;
    }
  }
  return margins;
}

/** Returns a length in inches, or `undefined` if its unit is relative to a font. */
function inchesOf(length: string, whole: number): number | undefined {
  const [, number, unit] = /^(-?[\d.]+(?:e[-+]?\d+)?)([a-z]*|%)$/i.exec(length.trim().toLowerCase()) ?? [];
  if (number === undefined) return undefined;
  if (unit === "%") return (whole * Number(number)) / 100;
  if (unit === "") return Number(number) === 0 ? 0 : undefined;
  const inches = UNITS[unit!];
  return inches === undefined ? undefined : Number(number) * inches;
}
