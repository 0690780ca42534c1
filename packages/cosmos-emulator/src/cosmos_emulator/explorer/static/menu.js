// A button that unfolds a panel. Escape, a click elsewhere, or moving the focus away closes it.

import {element} from "./dom.js";

/** Return the node; its children after the first are the panel. */
export function menu(title, ...content) {
  const node = element("details", {className: "menu"}, element("summary", {}, title), ...content);
  const close = () => { node.open = false; };
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    event.stopPropagation();
    close();
    node.firstChild.focus();
  });
  node.addEventListener("focusout", ({relatedTarget}) => { if (relatedTarget && !node.contains(relatedTarget)) close(); });
  node.addEventListener("toggle", () => {
    const onclick = ({target}) => { if (!node.contains(target)) close(); };
    if (!node.open) return;
    document.addEventListener("pointerdown", onclick);
    node.addEventListener("toggle", () => document.removeEventListener("pointerdown", onclick), {once: true});
  });
  return node;
}
