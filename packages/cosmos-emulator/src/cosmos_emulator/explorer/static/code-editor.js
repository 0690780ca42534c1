// A textarea with colors: its text is transparent and lies on a copy with colored tokens.
//
// The copy gives the height, so both wrap alike and only the frame scrolls. Tab leaves the editor, as in any form.

import {element} from "./dom.js";
import {highlighted} from "./highlight.js";

export class CodeEditor {
  /** `properties` are those of the textarea. */
  constructor(language, properties) {
    this.language = language;
    this.copy = element("pre", {"aria-hidden": "true"});
    this.text = element("textarea", {spellcheck: false, autocomplete: "off", ...properties});
    this.text.addEventListener("input", () => this.#color());
    this.text.addEventListener("keydown", (event) => this.#indent(event));
    this.node = element("div", {className: "code"}, this.copy, this.text);
    this.#color();
  }

  get value() {
    return this.text.value;
  }

  set value(text) {
    this.text.value = text;
    this.#color();
  }

  /** Parse the text as JSON. An error selects its position and says what was expected. */
  parsed(what) {
    try {
      return JSON.parse(this.value);
    } catch (error) {
      const position = /position (\d+)/.exec(error.message);
      if (position) this.text.setSelectionRange(Number(position[1]), Number(position[1]) + 1);
      this.text.focus();
      throw new Error(`${what} is not valid JSON: ${error.message}`);
    }
  }

  #color() {
    // The last line would have no height without a character.
    this.copy.replaceChildren(...highlighted(this.value, this.language), "\n");
  }

  /** Start a new line below the previous one's first character. */
  #indent(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.isComposing) return;
    const before = this.value.slice(0, this.text.selectionStart);
    const spaces = /(?:^|\n)([ \t]*)[^\n]*$/.exec(before)[1];
    if (!spaces && !/[{[(]$/.test(before)) return;
    event.preventDefault();
    const deeper = /[{[(]$/.test(before) ? "  " : "";
    // Keeps the browser's undo history, unlike setRangeText.
    document.execCommand("insertText", false, `\n${spaces}${deeper}`);
  }
}
