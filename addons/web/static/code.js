// A button on each block of code, which copies it. site.js imports this module.
import { alarm, announce } from "./messages.js";

for (const block of document.querySelectorAll("article.post .prose pre")) {
  const frame = Object.assign(document.createElement("div"), { className: "code" });
  const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet small copy", textContent: "Copy" });
  button.addEventListener("click", () => navigator.clipboard.writeText(block.textContent).then(() => announce("Copied.", button), alarm));
  block.replaceWith(frame);
  frame.append(block, button);
}
