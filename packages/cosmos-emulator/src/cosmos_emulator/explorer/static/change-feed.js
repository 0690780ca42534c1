// The change feed of a container, live: asks for new changes every second.

import * as api from "./api.js";
import {textOf} from "./columns.js";
import {button, element, field, json, select} from "./dom.js";
import {keyOf} from "./partition-key.js";
import {pause} from "./polling.js";
import {Status, count, ru} from "./status.js";

const MOST_SHOWN = 200;
const LATEST = "Incremental Feed";
const ALL = "Full-Fidelity Feed";
const EXPLAINED = {
  [LATEST]: "Shows creates and updates of items as they happen, each item's latest version. Deletes are not in this mode. Every read costs RU, also an empty one.",
  [ALL]: "Shows every create, update and delete from now on. Every read costs RU, also an empty one.",
};

export function changeFeedView({container, signal}) {
  return new ChangeFeed(container, signal).node;
}

class ChangeFeed {
  constructor(container, signal) {
    this.container = container;
    this.running = null; // aborted by Stop, and when the view ends
    this.status = new Status();
    this.start = select({id: "feed-start"}, [["now", "from now on"], ["beginning", "from the beginning"]]);
    this.mode = select(
      {id: "feed-mode", onchange: () => this.#explain()},
      [[LATEST, "latest versions"], [ALL, "all versions and deletes"]],
    );
    this.toggle = button("Start", () => (this.running ? this.stop() : this.run()), {className: "primary", id: "feed-toggle"});
    this.list = element("ol", {className: "changes", reversed: true});
    this.explained = element("p", {className: "quiet"});
    this.#explain();
    const clear = button("Clear", () => this.list.replaceChildren());
    this.node = element(
      "div",
      {},
      element("div", {className: "bar"}, field("Mode", this.mode), field("Start", this.start), this.toggle, clear),
      this.explained,
      this.status.node,
      this.list,
    );
    signal.addEventListener("abort", () => this.running?.abort());
  }

  #explain() {
    this.explained.textContent = EXPLAINED[this.mode.value];
    if (this.mode.value === ALL) this.start.value = "now";
    this.start.disabled = this.running !== null || this.mode.value === ALL;
  }

  #setRunning(running) {
    this.running?.abort();
    this.running = running;
    this.toggle.textContent = running ? "Stop" : "Start";
    this.mode.disabled = running !== null;
    this.#explain();
  }

  stop() {
    this.#setRunning(null);
    this.status.say(`Stopped after ${count(this.changes, "change")}; ${ru(this.chargeRu)}`);
  }

  async run() {
    const running = new AbortController();
    this.#setRunning(running);
    this.changes = this.chargeRu = 0;
    let etag = this.start.value === "now" ? "*" : null;
    try {
      while (!running.signal.aborted) {
        const answer = await api.list(this.container._self, "docs", {
          "a-im": this.mode.value,
          "x-ms-max-item-count": "50",
          ...(etag && {"if-none-match": etag}),
        });
        if (running.signal.aborted) return;
        etag = answer.etag;
        this.#show(answer);
        if (answer.status === 304) await pause();
      }
    } catch (error) {
      if (running.signal.aborted) return;
      this.#setRunning(null);
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
    const {item, operation, lsn, seconds} = this.mode.value === ALL ? changeOf(document) : latestOf(document);
    const key = keyOf(this.container.partitionKey, item).map((value) => textOf(value)).join(", ");
    const time = new Date(seconds * 1000).toLocaleTimeString();
    const summary = element(
      "summary",
      {},
      element("time", {}, time),
      element("strong", {}, item.id),
      ...(operation ? [element("span", {}, operation)] : []),
      element("span", {className: "quiet"}, key),
      element("span", {className: "quiet lsn"}, `LSN ${lsn}`),
    );
    return element("li", {}, element("details", {}, summary, element("pre", {tabIndex: 0, role: "region", "aria-label": `Item ${item.id}`}, json(item))));
  }
}

const latestOf = ({_lsn, ...item}) => ({item, lsn: _lsn, seconds: item._ts});

/** The item of a change among all versions; of a delete, its last version. */
function changeOf({current, previous, metadata}) {
  const {operationType, lsn, crts, timeToLiveExpired} = metadata;
  const operation = timeToLiveExpired ? "expired" : operationType;
  return {item: operationType === "delete" ? {id: metadata.id, ...previous} : current, operation, lsn, seconds: crts};
}
