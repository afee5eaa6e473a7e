// <local-time><time datetime="…Z">… UTC</time></local-time>: a time in the user's time zone, with UTC in the title.

const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

class LocalTime extends HTMLElement {
  connectedCallback(): void {
    const time = this.querySelector("time");
    if (!time || time.title) return;
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) return;
    time.title = time.textContent ?? "";
    time.textContent = format.format(moment);
  }
}

customElements.define("local-time", LocalTime);
