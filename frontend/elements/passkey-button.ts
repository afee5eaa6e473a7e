// <passkey-button data-ceremony="make|show" data-options="…">: on a click, the browser creates or uses a passkey, and
// its response is submitted with the enclosing form. The options come from the server, as JSON, and are valid once.
// Without JavaScript, or if the browser doesn't support passkeys, the button stays hidden and a sentence names the
// requirements.

const AGAIN = "The passkey request was cancelled or timed out. Try again.";

/** Messages by the name of the error (WebAuthn Level 3): what went wrong and what to do. */
const FAULTS: Record<string, string> = {
  AbortError: AGAIN,
  NotAllowedError: AGAIN,
  InvalidStateError: "This device or password manager already has one of your passkeys. Choose another one.",
  NotSupportedError: "This device can’t create a passkey. Choose another one.",
  SecurityError: "Passkeys work only at the service’s own address. Open it, and try again.",
};
const UNKNOWN = "The browser could not use a passkey. Try again, or use another method.";

/** Older browsers lack the two parsers; insecure contexts lack `PublicKeyCredential` itself. */
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
    // The user pressed Enter in a field of a form without another button.
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
      // Fields next to the passkey may stay empty.
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
