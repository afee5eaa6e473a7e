// <sample-sets>: the choice of a set of sample data in the template editor, with buttons that add, rename and delete sets.
// The field `data` of the form contains the chosen set. The texts of all sets are kept here and written to the field
// `sets` when the form is saved, so that typing costs nothing more. Without JavaScript, there are links to the sets.

import type { CodeEditor } from "./code-editor.ts";
import { button, element } from "./code-editor/dom.ts";
import type { DataForm } from "./data-form.ts";
import { addedFields, generate, summary } from "./generated-data.ts";

/** The name of the first set, which can't be renamed or deleted. */
const DEFAULT = "Default";
/** Most sets of a template. */
const MOST = 20;
/** Longest name, in characters. */
const LONGEST_NAME = 64;

interface SampleSet {
  /** Identifies the set in the editor, whatever its name. */
  readonly key: string;
  name: string;
  data: string;
}

class SampleSets extends HTMLElement {
  #sets: SampleSet[] = [];
  #chosen = 0;
  #added = 0;
  readonly #select = element("select", "input");
  #toggle: HTMLButtonElement | undefined;
  readonly #message = element("p", "sample-sets__message");
  readonly #buttons = new Map<string, HTMLButtonElement>();

  connectedCallback(): void {
    const [field, form] = [this.#field, this.closest("form")];
    if (!field || !form || this.#sets.length > 0) return;
    const sets = JSON.parse(field.value) as { name: string; data: string }[];
    this.#sets = sets.map((set) => ({ ...set, key: this.#newKey() }));
    const named = this.querySelector<HTMLInputElement>("input[name=set]");
    this.#chosen = Math.max(
      sets.findIndex(({ name }) => name === named?.value),
      0,
    );
    named?.remove();
    field.disabled = false;
    this.querySelector("nav")?.replaceWith(this.#bar());
    this.#message.role = "status";
    this.closest(".pane__bar")?.after(this.#message);
    this.#list();
    this.#show();
    // Dispatched by the workbench before it saves; a form without the workbench is submitted.
    form.addEventListener("collect", () => this.#collect());
    form.addEventListener("submit", () => this.#collect(), { capture: true });
  }

  get #field(): HTMLTextAreaElement | null {
    return this.querySelector("textarea[name=sets]");
  }

  get #data(): HTMLTextAreaElement | null {
    return this.closest("form")?.querySelector("textarea[name=data]") ?? null;
  }

  get #current(): SampleSet {
    return this.#sets[this.#chosen]!;
  }

  get #editor(): CodeEditor | null {
    return this.#data?.closest<CodeEditor>("code-editor") ?? null;
  }

  /** The form, while it is shown instead of the editor. */
  get #form(): DataForm | null {
    return this.closest(".pane")?.querySelector<DataForm>("data-form") ?? null;
  }

  #bar(): HTMLElement {
    this.#select.name = "set";
    this.#select.autocomplete = "off";
    // The workbench notices the event, too, and renders the preview.
    this.#select.addEventListener("input", () => this.#choose(this.#select.selectedIndex));
    this.#select.id = "sample-set";
    const label = element("label", "sample-sets__label", "Set");
    label.htmlFor = this.#select.id;
    const bar = element("div", "sample-sets", element("div", "sample-sets__choice", label, this.#select));
    if (this.dataset.readOnly === undefined) {
      bar.append(this.#actions());
      this.#toggle = button({ text: "Form" }, "Form", () => void this.#toggleForm());
      this.#toggle.setAttribute("aria-pressed", "false");
      this.#toggle.title = "Edit the sample data as a form";
      bar.append(this.#toggle);
    }
    return bar;
  }

  #actions(): HTMLElement {
    const group = element("div", "sample-sets__actions");
    const actions: [string, string, () => void][] = [
      ["Add", "Add set", () => this.#add()],
      ["Rename", "Rename", () => this.#rename()],
      ["Delete", "Delete", () => this.#delete()],
    ];
    for (const [text, label, press] of actions) {
      const created = button({ text }, label, press);
      created.setAttribute("aria-haspopup", "dialog");
      this.#buttons.set(label, created);
      group.append(created);
    }
    const generate = button({ text: "Generate" }, "Generate from the template", () => void this.#generate());
    group.append(generate);
    return group;
  }

  /** Fills the list, and enables what applies to the chosen set. */
  #list(): void {
    const options = this.#sets.map(({ name }, index) => new Option(name, name, false, index === this.#chosen));
    this.#select.replaceChildren(...options);
    this.#enable();
  }

  #enable(): void {
    for (const action of ["Rename", "Delete"]) {
      const button = this.#buttons.get(action);
      if (button) button.disabled = this.#chosen === 0;
    }
    const add = this.#buttons.get("Add set");
    if (add) {
      add.disabled = this.#sets.length >= MOST;
      add.title = add.disabled ? `A template has at most ${MOST} sets` : "Add set";
    }
  }

  #choose(index: number): void {
    this.#keep();
    this.#chosen = index;
    this.#say("", "done");
    this.#show();
    this.#enable();
  }

  /** Keeps the text of the chosen set. */
  #keep(): void {
    if (this.#data) this.#current.data = this.#data.value;
  }

  #show(): void {
    this.#editor?.show(this.#current.key, this.#current.data);
    this.#form?.show(this.#current.data, this.#write);
  }

  #collect(): void {
    this.#keep();
    const field = this.#field;
    if (field) field.value = JSON.stringify(this.#sets.map(({ name, data }) => ({ name, data })));
  }

  /** Reports that the sets have changed, so that the form is unsaved and the preview is rendered. */
  #changed(): void {
    this.#list();
    this.#field?.dispatchEvent(new InputEvent("input", { bubbles: true }));
    this.#select.focus();
  }

  #add(): void {
    this.#askName("Add a set", "Add set", "", (name) => {
      this.#keep();
      this.#sets.push({ key: this.#newKey(), name, data: this.#current.data });
      this.#chosen = this.#sets.length - 1;
      this.#show();
      this.#changed();
    });
  }

  #rename(): void {
    const set = this.#current;
    this.#askName(`Rename ${set.name}`, "Rename", set.name, (name) => {
      set.name = name;
      this.#changed();
    });
  }

  #delete(): void {
    const { name } = this.#current;
    const words = element("p", "break", `The set “${name}” is deleted when you save the template.`);
    ask(`Delete ${name}?`, "Delete set", "button--destroy", [words], () => {
      this.#sets.splice(this.#chosen, 1);
      this.#chosen = Math.min(this.#chosen, this.#sets.length - 1);
      this.#show();
      this.#changed();
    });
  }

  #askName(title: string, action: string, name: string, done: (name: string) => void): void {
    const input = element("input", "input");
    input.id = "set-name";
    input.value = name;
    input.required = true;
    input.maxLength = LONGEST_NAME;
    input.autocomplete = "off";
    const label = element("label", "field__label", "Name");
    label.htmlFor = input.id;
    const others = this.#sets.filter((set) => set.name !== name).map((set) => set.name.toLowerCase());
    input.addEventListener("input", () => {
      const typed = clean(input.value).toLowerCase();
      let problem = "";
      if (typed === "") problem = "Enter a name.";
      else if (typed === DEFAULT.toLowerCase() || others.includes(typed)) problem = "Another set has this name.";
      input.setCustomValidity(problem);
    });
    const content = [element("div", "field", label, input)];
    if (!name) content.unshift(element("p", "", `The set begins as a copy of “${this.#current.name}”.`));
    ask(title, action, "button--primary", content, () => done(clean(input.value)));
    input.select();
  }

  /** Adds values for everything that the template uses and the data lacks. */
  async #generate(): Promise<void> {
    const set = this.#current;
    const [content, data] = [
      this.closest("form")?.querySelector<HTMLTextAreaElement>("textarea[name=content]"),
      this.#data,
    ];
    if (!content || !data) return;
    this.#say("", "done");
    const before = data.value;
    const generated = await generate(content.value, before);
    // In the meantime, another set was chosen or the data was changed.
    if (this.#current !== set || data.value !== before) return;
    if (generated.data === undefined) return this.#say(generated.problem, "problem");
    const added = addedFields(before, generated.data);
    if (added.length > 0) {
      this.#editor?.replace(generated.data);
      this.#form?.show(data.value, this.#write);
    }
    this.#say(summary(added), "done");
  }

  #say(message: string, kind: "done" | "problem"): void {
    this.#message.textContent = message;
    this.#message.classList.toggle("sample-sets__message--bad", kind === "problem");
  }

  async #toggleForm(): Promise<void> {
    const form = this.#form;
    this.#toggle?.setAttribute("aria-pressed", String(!form));
    if (form) return form.remove();
    const { DataForm } = await import("./data-form.ts");
    if (this.#form || !this.#data) return;
    const created = new DataForm();
    this.#message.after(created);
    created.show(this.#data.value, this.#write);
  }

  /** Writes the data of the form to the editor, which reports it as an input. */
  readonly #write = (json: string): void => this.#editor?.replace(json, "joined");

  #newKey(): string {
    this.#added += 1;
    return `set-${this.#added}`;
  }
}

/** Returns a name without superfluous spaces, as the service stores it. */
function clean(name: string): string {
  return name.trim().replace(/\s+/g, " ");
}

/** Shows a dialog with a form. */
function ask(title: string, action: string, rank: string, content: HTMLElement[], done: () => void): void {
  const heading = element("h2", "dialog__title", title);
  heading.id = "sample-sets-title";
  const cancel = element("button", "button", "Cancel");
  cancel.type = "button";
  const submit = element("button", `button ${rank}`, action);
  const form = element(
    "form",
    "",
    element("div", "dialog__head", heading),
    element("div", "dialog__body", ...content),
    element("div", "dialog__foot", cancel, submit),
  );
  form.method = "dialog";
  const dialog = element("dialog", "dialog", form);
  dialog.setAttribute("aria-labelledby", heading.id);
  // In the order of the page, the first field or else “Cancel” is focused.
  cancel.addEventListener("click", () => dialog.close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close();
    done();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

customElements.define("sample-sets", SampleSets);
