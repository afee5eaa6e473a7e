// <password-field> around a password input and a hidden button: shows the button, which reveals what was typed.

class PasswordField extends HTMLElement {
  connectedCallback(): void {
    const input = this.querySelector("input");
    const button = this.querySelector("button");
    const word = button?.querySelector("span");
    if (!input || !button || !word) return;
    const reveal = (isShown: boolean) => {
      input.type = isShown ? "text" : "password";
      word.textContent = isShown ? "Hide" : "Show";
    };
    button.hidden = false;
    button.addEventListener("click", () => reveal(input.type === "password"));
    // Browsers remember what was typed into text fields.
    input.form?.addEventListener("submit", () => reveal(false));
  }
}

customElements.define("password-field", PasswordField);
