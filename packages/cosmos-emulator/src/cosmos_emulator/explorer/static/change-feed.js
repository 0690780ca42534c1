// The change feed of a container, live: asks for new changes every second.

import * as api from "./api.js";
import {textOf} from "./columns.js";
import {button, element, field, json, select} from "./dom.js";
import {keyOf} from "./partition-key.js";
import {Status, count, ru} from "./status.js";

const EVERY_MS = 1000;
const MOST_SHOWN = 200;

export function changeFeedView({container, signal}) {
  return new ChangeFeed(container, signal).node;
}

class ChangeFeed {
  constructor(container, signal) {
    this.container = container;
    this.isRunning = false;
    this.status = new Status();
    this.start = select({id: "feed-start"}, [["now", "from now on"], ["beginning", "from the beginning"]]);
    this.toggle = button("Start", () => (this.isRunning ? this.stop() : this.run()), {className: "primary", id: "feed-toggle"});
    this.list = element("ol", {className: "changes", reversed: true});
    this.explained = element("p", {className: "quiet"}, "Shows creates and updates of items as they happen, each item's latest version. Deletes are not in the feed. Every read costs RU, also an empty one.");
    const clear = button("Clear", () => this.list.replaceChildren());
    this.node = element(
      "div",
      {},
      element("div", {className: "bar"}, field("Start", this.start), this.toggle, clear),
      this.explained,
      this.status.node,
      this.list,
    );
    signal.addEventListener("abort", () => { this.isRunning = false; });
  }

  stop() {
    this.isRunning = false;
    this.toggle.textContent = "Start";
    this.start.disabled = false;
    this.status.say(`Stopped after ${count(this.changes, "change")}; ${ru(this.chargeRu)}`);
  }

  async run() {
    this.isRunning = true;
    this.toggle.textContent = "Stop";
    this.start.disabled = true;
    this.changes = this.chargeRu = 0;
    let etag = this.start.value === "now" ? "*" : null;
    try {
      while (this.isRunning) {
        const answer = await api.list(this.container._self, "docs", {
          "a-im": "Incremental Feed",
          "x-ms-max-item-count": "50",
          ...(etag && {"if-none-match": etag}),
        });
        if (!this.isRunning) return;
        etag = answer.etag;
        this.#show(answer);
        if (answer.status === 304) await pause();
      }
    } catch (error) {
      this.isRunning = false;
      this.toggle.textContent = "Start";
      this.start.disabled = false;
      this.status.fail(error);
    }
  }

  #show(answer) {
    const found = answer.body?.Documents ?? [];
    this.changes += found.length;
    this.chargeRu += answer.chargeRu;
    this.list.prepend(...found.toReversed().map((document) => this.#entry(document)));
    while (this.list.children.length > MOST_SHOWN) this.list.lastChild.remove();
    // Only changes are announced; the charge alone is not.
    const text = `Listening: ${count(this.changes, "change")}`;
    if (this.status.node.textContent !== text) this.status.say(text);
    this.toggle.title = `${ru(this.chargeRu)} so far`;
  }

  #entry(document) {
    const {_lsn, ...item} = document;
    const key = keyOf(this.container.partitionKey, item).map((value) => textOf(value)).join(", ");
    const time = new Date(item._ts * 1000).toLocaleTimeString();
    const summary = element(
      "summary",
      {},
      element("time", {}, time),
      element("strong", {}, item.id),
      element("span", {className: "quiet"}, key),
      element("span", {className: "quiet lsn"}, `LSN ${_lsn}`),
    );
    return element("li", {}, element("details", {}, summary, element("pre", {tabIndex: 0, role: "region", "aria-label": `Item ${item.id}`}, json(item))));
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, EVERY_MS));
