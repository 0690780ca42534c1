// A status line that screen readers announce.

import {element} from "./dom.js";

export class Status {
  constructor() {
    this.node = element("div", {className: "status", role: "status"});
    this.isBusy = false;
    this.current = Promise.resolve();
  }

  say(text, className = "quiet") {
    this.node.replaceChildren(...(text ? [element("span", {className}, text)] : []));
  }

  /** Show an error, what to do about it, and optionally buttons that do it. */
  fail(error, ...actions) {
    const parts = [
      error.title && element("strong", {}, error.title),
      element("span", {}, error.message),
      error.advice && element("span", {className: "advice"}, error.advice),
      error.chargeRu && element("span", {}, `Charge: ${error.chargeRu.toFixed(2)} RU`),
      actions.length && element("span", {className: "actions"}, ...actions),
    ];
    this.node.replaceChildren(element("div", {className: "error", role: "alert"}, ...parts.filter(Boolean)));
  }

  /**
   * Run `work` and show any error, with the buttons that `actionsFor` returns for it. Does nothing while other work
   * runs, so a double click counts once.
   */
  during(work, actionsFor = () => []) {
    if (!this.isBusy) this.current = this.#run(work, actionsFor);
    return this.current;
  }

  /** Like `during`, but wait for running work first. */
  async afterwards(work, actionsFor) {
    while (this.isBusy) await this.current;
    await this.during(work, actionsFor);
  }

  async #run(work, actionsFor) {
    this.isBusy = true;
    this.say("Working…");
    try {
      await work();
    } catch (error) {
      this.fail(error, ...actionsFor(error));
    } finally {
      this.isBusy = false;
    }
  }
}

export const ru = (charge) => `${charge.toFixed(2)} RU`;
export const cost = ({chargeRu, ms}) => `${ru(chargeRu)} (modeled), ${ms.toFixed(0)} ms`;
export const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
