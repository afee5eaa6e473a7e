// Opens the dialog that the fragment of the address names: links such as `/dashboard/templates#create` lead to it.

function openNamed(): void {
  const dialog = document.getElementById(location.hash.slice(1));
  if (!(dialog instanceof HTMLDialogElement) || dialog.open) return;
  // Without the fragment, a reload doesn't open it again.
  history.replaceState(history.state, "", location.pathname + location.search);
  dialog.showModal();
}

openNamed();
window.addEventListener("hashchange", openNamed);
