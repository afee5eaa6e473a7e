// Prevents a form from being submitted twice.

document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent !== undefined) event.preventDefault();
  form.dataset.sent = "";
  event.submitter?.setAttribute("aria-busy", "true");
});

// Pages restored from the back/forward cache get their forms back in the initial state.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
  }
});
