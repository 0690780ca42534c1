// Run a query page by page. Shows rows, the charge of each page and in total, and metrics.

import * as api from "./api.js";
import {CodeEditor} from "./code-editor.js";
import {button, element, field, select} from "./dom.js";
import {exampleMenu} from "./query-examples.js";
import {exportMenu} from "./exports.js";
import {KEY_HINT, isObject, keyOf, typedKey, valueAt} from "./partition-key.js";
import {QueryHistory} from "./query-history.js";
import {metricsView} from "./query-metrics.js";
import {resultTabs} from "./query-results.js";
import {go} from "./route.js";
import {Status, cost, count, ru} from "./status.js";

export function queryView({database, container}) {
  return new Query(database, container).node;
}

class Query {
  constructor(database, container) {
    this.database = database;
    this.container = container;
    this.asked = null; // the current query: its request, rows, next page, and total charge
    this.status = new Status();
    this.results = element("div", {className: "results"});
    this.history = new QueryHistory(container, (entry) => this.#recall(entry));
    this.text = new CodeEditor("sql", {id: "query", value: this.history.latest ?? "SELECT * FROM c", rows: 4});
    this.parameters = new CodeEditor("json", {id: "parameters", placeholder: '{"@least": 50}', rows: 1});
    this.key = element("input", {id: "query-key", spellcheck: false, autocomplete: "off", placeholder: "all"});
    this.size = select({id: "page-size"}, [10, 25, 100, 1000].map((size) => [size, size]));
    this.size.value = "25";
    this.more = button("Load more", () => this.status.during(() => this.#page()), {hidden: true, id: "load-more"});
    this.node = element("div", {}, this.#form(), this.status.node, this.results, this.more);
  }

  #form() {
    const run = (event) => { event.preventDefault(); this.run(); };
    const examples = exampleMenu(this.container, (query, key) => this.status.during(() => this.#offer(query, key)));
    return element(
      "form",
      {onsubmit: run, onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(event); }},
      field("Query", this.text.node),
      element(
        "div",
        {className: "bar"},
        field("Parameters (JSON)", this.parameters.node),
        field("Partition key", this.key, KEY_HINT),
        field("Page size", this.size),
      ),
      element(
        "div",
        {className: "actions"},
        element("button", {type: "submit", "aria-keyshortcuts": "Control+Enter", title: "Ctrl+Enter"}, "Run"),
        this.history.node,
        ...(examples ? [examples] : []),
      ),
    );
  }

  run() {
    return this.status.afterwards(async () => {
      this.results.replaceChildren();
      this.more.hidden = true;
      this.asked = this.#request();
      this.history.add({query: this.text.value, parameters: this.parameters.value, key: this.key.value});
      await this.#page();
    });
  }

  async #page() {
    const asked = this.asked;
    const answer = await api.query(this.container._self, "docs", asked.text, asked.parameters, {
      ...asked.headers,
      ...(asked.continuation && {"x-ms-continuation": asked.continuation}),
    });
    asked.continuation = answer.continuation;
    asked.pages += 1;
    asked.chargeRu += answer.chargeRu;
    asked.rows.push(...answer.body.Documents);
    this.more.hidden = answer.continuation === null;
    const menu = exportMenu(asked.rows, this.container.id, this.status);
    this.results.replaceChildren(element("div", {className: "actions"}, menu), ...resultTabs(asked.rows, () => metricsView(answer), (row) => this.#opening(row)));
    const all = asked.pages > 1 ? `; ${ru(asked.chargeRu)} for ${count(asked.rows.length, "row")} on ${asked.pages} pages` : "";
    const end = answer.continuation === null ? "" : "; there are more";
    this.status.say(`Page ${asked.pages}: ${count(answer.body._count, "row")}; ${cost(answer)}${all}${end}`);
  }

  /** What opens the item of a row, or null if the row has no id or no partition key. */
  #opening(row) {
    const {partitionKey, id} = this.container;
    const isItem = isObject(row) && typeof row.id === "string" && (row._self || partitionKey.paths.every((path) => valueAt(row, path) !== undefined));
    return isItem && (() => go({database: this.database.id, container: id, view: "items", item: {id: row.id, key: keyOf(partitionKey, row)}}));
  }

  #request() {
    const values = typedKey(this.key.value);
    return {
      text: this.text.value,
      parameters: this.parameters.value.trim() ? named(this.parameters.parsed("The text in Parameters")) : [],
      headers: {
        "x-ms-max-item-count": this.size.value,
        "x-ms-documentdb-populatequerymetrics": "true",
        "x-ms-cosmos-populateindexmetrics": "true",
        ...(values && api.partitionKeyHeader(values)),
      },
      continuation: null,
      pages: 0,
      chargeRu: 0,
      rows: [],
    };
  }

  /** Put an example into the form, with a partition key that the query `key` finds. */
  async #offer(query, key) {
    const found = (await api.query(this.container._self, "docs", key, [], {})).body.Documents;
    this.#recall({query, parameters: "", key: found.length ? JSON.stringify(found[0]) : ""});
  }

  #recall({query, parameters, key}) {
    this.text.value = query;
    this.parameters.value = parameters;
    this.key.value = key;
    this.text.text.focus();
  }
}

/** Convert `{"@a": 1}` to the API's list of parameters. A list is returned unchanged. */
function named(given) {
  if (given === null || typeof given !== "object") throw new Error('Enter the parameters as a JSON object: {"@name": "value"}.');
  return Array.isArray(given) ? given : Object.entries(given).map(([name, value]) => ({name, value}));
}
