// form[data-updates]: filters that apply as soon as they change. The live part that the attribute names is updated with
// the list at the address of the filters. Without JavaScript, the form has a button.

import { type LivePart, fetchPage } from "./elements/live-part.ts";

/** Time after a change, during which further changes are awaited: users type searches and dates. */
const APPLY_AFTER_MS = 300;

for (const form of document.querySelectorAll<HTMLFormElement>("form[data-updates]")) {
  form.classList.add("filters--immediate");
  let waiting: ReturnType<typeof setTimeout> | undefined;
  /** The field whose changes the latest entry of the history contains. */
  let field: EventTarget | null = null;

  const apply = (changed: EventTarget | null) => {
    clearTimeout(waiting);
    const address = addressOf(form);
    if (address === location.pathname + location.search) return;
    // While the user types a search, it stays one entry of the history.
    const isTyping = changed !== null && changed === field && (changed as HTMLInputElement).type === "search";
    if (isTyping) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    field = changed;
    void update(form);
  };

  form.addEventListener("input", ({ target }) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => apply(target), APPLY_AFTER_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply(null);
  });
  window.addEventListener("popstate", () => {
    clearTimeout(waiting);
    field = null;
    const query = new URLSearchParams(location.search);
    for (const element of fieldsOf(form)) element.value = query.get(element.name) ?? "";
    void update(form);
  });
}

function fieldsOf(form: HTMLFormElement): (HTMLInputElement | HTMLSelectElement)[] {
  return [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select")];
}

/** Returns the address of the first page of the list with these filters. */
function addressOf(form: HTMLFormElement): string {
  const values = fieldsOf(form).filter((element) => element.value !== "");
  const query = new URLSearchParams(values.map((element) => [element.name, element.value]));
  return new URL(form.action).pathname + (values.length > 0 ? `?${query}` : "");
}

/** Shows the list at the current address. */
async function update(form: HTMLFormElement): Promise<void> {
  const address = location.href;
  const page = await fetchPage();
  // A later change shows its own list.
  if (location.href !== address) return;
  const next = page?.getElementById(form.dataset.updates!);
  if (page && next) {
    for (const id of [next.id, "more-filters-set"]) {
      const element = page.getElementById(id);
      if (element) document.getElementById(id)?.replaceWith(element);
    }
    const says = next.dataset.says;
    if (says) (next as LivePart).say(says);
  } else {
    // The page itself shows what is wrong.
    location.reload();
  }
}
