// Run a query page by page, and show the charge of each page and in total.

import * as api from "./api.js";
import {Status, button, cost, element, field, json} from "./dom.js";
import {KEY_HINT, typedKey} from "./partition_key.js";

export function queryView(container) {
  const text = element("textarea", {id: "query", spellcheck: false, value: "SELECT * FROM c"});
  const parameters = element("textarea", {id: "parameters", spellcheck: false, placeholder: '{"@name": "value"}', rows: 2});
  const key = element("input", {id: "query-key", spellcheck: false, placeholder: KEY_HINT});
  const size = element("select", {id: "page-size"}, ...[10, 25, 100, 1000].map((count) => element("option", {}, count)));
  size.value = "25";
  const status = new Status();
  const rows = element("pre", {id: "rows", tabIndex: 0, "aria-label": "Rows", hidden: true});
  let asked = null; // the current query: its request, its next page, and its total charge

  const page = async () => {
    const answer = await api.query(container._self, "docs", asked.text, asked.parameters, {
      ...asked.headers,
      ...(asked.continuation && {"x-ms-continuation": asked.continuation}),
    });
    asked.continuation = answer.continuation;
    asked.pages += 1;
    asked.chargeRu += answer.chargeRu;
    rows.hidden = false;
    rows.textContent = json(answer.body.Documents);
    next.hidden = answer.continuation === null;
    const all = asked.pages > 1 ? `; ${asked.chargeRu.toFixed(2)} RU for all ${asked.pages} pages` : "";
    status.say(`Page ${asked.pages}: ${answer.body._count} rows; ${cost(answer)}${all}`);
  };
  const run = () =>
    status.afterwards(() => {
      rows.hidden = next.hidden = true;
      asked = request(text.value, parameters.value, key.value, size.value);
      return page();
    });
  const next = button("Next page", () => status.during(page), {hidden: true});
  const form = element(
    "form",
    {
      onsubmit: (event) => { event.preventDefault(); run(); },
      onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(); },
    },
    ...field("Query (Ctrl+Enter to run)", text),
    ...field("Parameters (JSON)", parameters),
    ...field("Partition key (empty for all)", key),
    ...field("Rows per page", size),
    element("div", {className: "actions"}, element("button", {type: "submit"}, "Run"), next),
  );
  return element("section", {"aria-label": "Query"}, form, status.node, rows);
}

function request(text, parameters, key, pageSize) {
  const values = typedKey(key);
  return {
    text,
    parameters: named(parameters),
    headers: {"x-ms-max-item-count": pageSize, ...(values && api.partitionKeyHeader(values))},
    continuation: null,
    pages: 0,
    chargeRu: 0,
  };
}

/** Convert `{"@a": 1}` to the API's list of parameters. A list is returned unchanged. */
function named(text) {
  if (!text.trim()) return [];
  let given;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new Error(`The parameters are not valid JSON: ${error.message}`);
  }
  if (given === null || typeof given !== "object") throw new Error('Enter the parameters as a JSON object: {"@name": "value"}.');
  return Array.isArray(given) ? given : Object.entries(given).map(([name, value]) => ({name, value}));
}
