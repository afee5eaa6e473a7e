// <passkey-button data-ceremony="make|show" data-options="…">: its button has the browser make or show a passkey, and sends
// what it answers with the form around it. The options are those of the server, as JSON; they count once. Without this
// script, or where the browser is not able to do it, the button stays hidden and a sentence says what is needed.

const AGAIN = "Nothing was chosen, or it took too long. Try again.";

/** What went wrong, by the name of the error (WebAuthn, level 3), and what to do. */
const FAULTS: Record<string, string> = {
  AbortError: AGAIN,
  NotAllowedError: AGAIN,
  InvalidStateError: "This device or password manager has a passkey of yours already. Choose another one.",
  NotSupportedError: "This device can’t make a passkey. Choose another one.",
  SecurityError: "Passkeys work only at the service’s own address. Open it, and try again.",
};
const UNKNOWN = "The browser could not use a passkey. Try again, or use another way.";

/** Older browsers lack these; `PublicKeyCredential` itself is missing where the connection is not secure. */
const isAble = () =>
  "PublicKeyCredential" in window &&
  "parseCreationOptionsFromJSON" in PublicKeyCredential &&
  "parseRequestOptionsFromJSON" in PublicKeyCredential;

class PasskeyButton extends HTMLElement {
  connectedCallback(): void {
    const button = this.querySelector("button");
    const answer = this.querySelector("input");
    const form = this.closest("form");
    if (!button || !answer || !form || !isAble()) return;
    this.dataset.able = "";
    const use = () => void this.#use(button, answer, form);
    button.addEventListener("click", use);
    // Enter in a field of a form that has no other button.
    form.addEventListener("submit", (event) => {
      if (answer.value || event.submitter) return;
      event.preventDefault();
      use();
    });
  }

  async #use(button: HTMLButtonElement, answer: HTMLInputElement, form: HTMLFormElement): Promise<void> {
    const makes = this.dataset.ceremony === "make";
    if (button.ariaBusy || (makes && !form.reportValidity())) return;
    this.#say("");
    button.ariaBusy = "true";
    try {
      const credential = await (makes ? this.#make() : this.#show());
      answer.value = JSON.stringify(credential);
      // What stands beside a passkey may stay empty.
      form.noValidate = true;
      form.requestSubmit();
    } catch (error) {
      this.#say((error instanceof Error && FAULTS[error.name]) || UNKNOWN);
    } finally {
      button.ariaBusy = null;
    }
  }

  #make(): Promise<Credential | null> {
    const options = JSON.parse(this.dataset.options ?? "") as PublicKeyCredentialCreationOptionsJSON;
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  }

  #show(): Promise<Credential | null> {
    const options = JSON.parse(this.dataset.options ?? "") as PublicKeyCredentialRequestOptionsJSON;
    return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  }

  #say(words: string): void {
    const fault = this.querySelector(".passkey-button__fault");
    if (fault) fault.textContent = words;
  }
}

customElements.define("passkey-button", PasskeyButton);
