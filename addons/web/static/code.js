// Colors code, and adds a button that copies it. site.js and editor.js import this module.
import { alarm, announce } from "./messages.js";

// Longer code would keep a phone busy.
const LONGEST = 20_000;

for (const block of document.querySelectorAll("article.post .prose pre")) {
  // Only pages with HTTPS, or of this machine, can write to the clipboard.
  if (navigator.clipboard) addCopyButton(block);
}
colorAll(document);

/** Color the code in a part of the page. @param {ParentNode} part */
export function colorAll(part) {
  return Promise.all([...part.querySelectorAll(".prose pre code[class^='language-']")].map(color)).catch(alarm);
}

function addCopyButton(block) {
  const frame = Object.assign(document.createElement("div"), { className: "code" });
  const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet small copy", textContent: "Copy" });
  button.addEventListener("click", () => navigator.clipboard.writeText(block.textContent).then(() => announce("Copied.", button), alarm));
  block.replaceWith(frame);
  frame.append(block, button);
}

async function color(code) {
  if (code.textContent.length > LONGEST) return;
  const language = code.className.replace("language-", "");
  const [{ default: highlighter }, { default: grammar }] = await Promise.all([import("./highlight.min.js"), import(`./${language}.min.js`)]);
  highlighter.registerLanguage(language, grammar);
  // Highlight.js escapes the text.
  code.innerHTML = highlighter.highlight(code.textContent, { language }).value;
}
