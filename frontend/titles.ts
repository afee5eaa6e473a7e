// Names the keys of Apple keyboards in titles, because the server doesn't know the visitor's keyboard.

import { IS_APPLE } from "./elements/platform.ts";

if (IS_APPLE) {
  for (const element of document.querySelectorAll<HTMLElement>("[title^='Ctrl+']"))
    element.title = element.title.replace("Ctrl+", "⌘");
}
