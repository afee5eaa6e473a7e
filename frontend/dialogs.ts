// Opens the dialog that the fragment of the address names: links such as `/dashboard/templates#create` lead to it. Loads the
// page again before it opens a dialog that shows an earlier state, as its `data-outdated` says.

function openNamed(): void {
  const dialog = document.getElementById(location.hash.slice(1));
  if (!(dialog instanceof HTMLDialogElement) || dialog.open) return;
  // Without the fragment, a reload doesn't open it again.
  history.replaceState(history.state, "", location.pathname + location.search);
  dialog.showModal();
}

openNamed();
window.addEventListener("hashchange", openNamed);

document.addEventListener("click", (event) => {
  const opener = (event.target as Element).closest("button[commandfor]");
  const dialog = document.getElementById(opener?.getAttribute("commandfor") ?? "");
  if (!dialog?.hasAttribute("data-outdated")) return;
  event.preventDefault();
  history.replaceState(history.state, "", `#${dialog.id}`);
  location.reload();
});
