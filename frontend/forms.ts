// Prevents a form from being submitted twice, and removes its error from the address.

// A rejected form leads back to its page, whose address contains the error for the server. Without it, the address can be
// bookmarked and shared, and a reload shows the page as it is.
const address = new URL(location.href);
if (address.searchParams.has("__err")) {
  for (const name of ["__path", "__err"]) address.searchParams.delete(name);
  history.replaceState(history.state, "", address);
}

document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (event.defaultPrevented || form.method !== "post") return;
  // The answer appears in another tab, and the form stays.
  if (event.submitter?.hasAttribute("formtarget")) return;
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
