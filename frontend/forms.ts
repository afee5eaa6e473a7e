// A form that is on its way is not sent again.

document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent !== undefined) event.preventDefault();
  form.dataset.sent = "";
  event.submitter?.setAttribute("aria-busy", "true");
});

// Whoever comes back to the page finds it as it was before.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
  }
});
