// <data-form>: sample data as a form with a field for each value. Edits are reported as JSON.

import { button, element } from "./code-editor/dom.ts";

/** Most fields: nobody fills more by hand. */
const MOST_FIELDS = 500;
/** Most levels of groups. */
const MOST_LEVELS = 8;
/** Longest text in a field of one line. */
const LONGEST_LINE = 60;

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
/** A container of values, and the name or index of one of them. */
type Container = Json[] | { [name: string]: Json };
type Key = string | number;

export class DataForm extends HTMLElement {
  #data: Json = {};
  #changed: (json: string) => void = () => {};
  #fields = 0;

  /** Shows data, whose changes are reported. */
  show(json: string, changed: (json: string) => void): void {
    this.className = "data-form";
    this.role = "group";
    this.ariaLabel = "Sample data as a form";
    this.#changed = changed;
    try {
      this.#data = JSON.parse(json) as Json;
    } catch {
      this.replaceChildren(note("The sample data is not valid JSON. Correct it in the JSON view."));
      return;
    }
    this.#build();
  }

  #build(): void {
    this.#fields = 0;
    const isObject = typeof this.#data === "object" && this.#data !== null && !Array.isArray(this.#data);
    if (!isObject) return this.replaceChildren(note("The sample data must be an object. Edit it in the JSON view."));
    const fields = this.#members(this.#data as Container, "", 0);
    if (fields.length === 0)
      fields.push(note("There is no data yet. Generate it from the template, or edit it as JSON."));
    if (this.#fields > MOST_FIELDS) {
      fields.push(note(`Only the first ${MOST_FIELDS} fields are shown. Edit the others in the JSON view.`));
    }
    this.replaceChildren(element("div", "data-form__fields", ...fields));
  }

  #members(container: Container, path: string, level: number): HTMLElement[] {
    const keys: Key[] = Array.isArray(container) ? [...container.keys()] : Object.keys(container);
    const fields: HTMLElement[] = [];
    for (const key of keys) {
      if (this.#fields > MOST_FIELDS) break;
      fields.push(this.#member(container, key, `${path}/${key}`, level));
    }
    return fields;
  }

  #member(container: Container, key: Key, path: string, level: number): HTMLElement {
    const value = valueIn(container, key);
    const label = typeof key === "number" ? `Item ${key + 1}` : readable(key);
    const tools = Array.isArray(container) ? this.#itemTools(container, key as number, path, label) : undefined;
    if (typeof value === "object" && value !== null) return this.#group(value, label, path, level, tools);
    this.#fields += 1;
    const field = element("div", "data-form__field");
    const control = this.#control(container, key, value);
    control.id = `data-field-${this.#fields}`;
    control.dataset.path = path;
    const name = element("label", "", label);
    name.htmlFor = control.id;
    field.append(name, control);
    if (tools) field.append(tools);
    return field;
  }

  #group(value: Container, label: string, path: string, level: number, tools?: HTMLElement): HTMLElement {
    const legend = element("legend", "", label);
    const content = element("div", "data-form__fields");
    if (tools) content.append(tools);
    if (level + 1 >= MOST_LEVELS) content.append(note("Nested too deeply for the form. Edit it in the JSON view."));
    else content.append(...this.#members(value, path, level + 1));
    if (Array.isArray(value) && level + 1 < MOST_LEVELS) {
      const add = button({ text: "Add item" }, `Add item to ${label}`, () => {
        value.push(blank(value.at(-1) ?? ""));
        this.#restructure(`${path}/${value.length - 1}`);
      });
      add.dataset.path = `${path}+`;
      content.append(element("div", "data-form__tools", add));
    }
    return element("fieldset", "", legend, content);
  }

  #itemTools(items: Json[], index: number, path: string, label: string): HTMLElement {
    const parent = path.slice(0, path.lastIndexOf("/"));
    const of = `${readable(parent.slice(parent.lastIndexOf("/") + 1))}, ${label.toLowerCase()}`;
    const move = (to: number, action: string) => {
      items.splice(to, 0, ...items.splice(index, 1));
      this.#restructure(`${parent}/${to} ${action}`);
    };
    const actions: [string, boolean, () => void][] = [
      ["Move up", index > 0, () => move(index - 1, "Move up")],
      ["Move down", index < items.length - 1, () => move(index + 1, "Move down")],
      [
        "Remove",
        true,
        () => {
          items.splice(index, 1);
          this.#restructure(items.length > index ? `${parent}/${index} Remove` : `${parent}+`);
        },
      ],
    ];
    const tools = element("div", "data-form__tools");
    for (const [text, enabled, press] of actions) {
      const tool = button({ text }, `${text}: ${of}`, press);
      tool.disabled = !enabled;
      tool.dataset.path = `${path} ${text}`;
      tools.append(tool);
    }
    return tools;
  }

  #control(container: Container, key: Key, value: Exclude<Json, object>): HTMLInputElement | HTMLTextAreaElement {
    const set = (next: Json) => {
      (container as { [name: Key]: Json })[key] = next;
      this.#report();
    };
    if (typeof value === "string" && (value.length > LONGEST_LINE || value.includes("\n"))) {
      const area = element("textarea", "input input--area");
      area.value = value;
      area.rows = 2;
      area.addEventListener("input", () => set(area.value));
      return area;
    }
    const input = element("input", typeof value === "boolean" ? "check__box" : "input");
    input.autocomplete = "off";
    // The Enter key would save the template.
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
    if (typeof value === "boolean") {
      input.type = "checkbox";
      input.checked = value;
      input.addEventListener("input", () => set(input.checked));
    } else if (typeof value === "number") {
      input.inputMode = "decimal";
      input.value = String(value);
      input.addEventListener("input", () => {
        const number = Number(input.value.trim().replace(",", "."));
        const isNumber = input.value.trim() !== "" && Number.isFinite(number);
        input.ariaInvalid = isNumber ? null : "true";
        if (isNumber) set(number);
      });
    } else {
      // An empty field of a value that is `null` leaves it so.
      input.value = value ?? "";
      if (value === null) input.placeholder = "null";
      input.addEventListener("input", () => set(value === null && input.value === "" ? null : input.value));
    }
    return input;
  }

  /** Builds the form again after items were added, moved or removed. */
  #restructure(focus: string): void {
    this.#report();
    this.#build();
    const candidates = [...this.querySelectorAll<HTMLElement>("[data-path]")].filter(
      (candidate) => !(candidate as HTMLButtonElement).disabled,
    );
    const at = (path: string) => candidates.find(({ dataset }) => dataset.path === path);
    const inside = (path: string) => candidates.find(({ dataset }) => dataset.path?.startsWith(path));
    // The first field of a new item, or the other buttons of an item at an end.
    (at(focus) ?? inside(`${focus}/`) ?? inside(focus.replace(/ .*$/, " ")))?.focus();
  }

  #report(): void {
    this.#changed(JSON.stringify(this.#data, undefined, 2));
  }
}

function valueIn(container: Container, key: Key): Json {
  return (container as { [name: Key]: Json })[key] ?? null;
}

/** Returns a value of the same structure without content. */
function blank(value: Json): Json {
  if (value === null) return null;
  if (Array.isArray(value)) return value.slice(0, 1).map(blank);
  switch (typeof value) {
    case "object":
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, blank(member)]));
    case "number":
      return 0;
    case "boolean":
      return false;
    default:
      return "";
  }
}

/** Returns a label such as `Unit price` for `unit_price` or `unitPrice`. */
function readable(name: string): string {
  const words = name
    .replace(/(\p{Ll})(\p{Lu})/gu, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
    .replace(/[_-]+/g, " ")
    .trim();
  return words ? words[0]!.toUpperCase() + words.slice(1) : `“${name}”`;
}

function note(text: string): HTMLElement {
  return element("p", "data-form__note", text);
}

customElements.define("data-form", DataForm);
