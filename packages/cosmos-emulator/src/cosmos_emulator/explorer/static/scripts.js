// Stored procedures, triggers, and user-defined functions: show their code, and execute a stored procedure.

import * as api from "./api.js";
import {Status, button, cost, element, field, json} from "./dom.js";
import {KEY_HINT, typedKey} from "./partition_key.js";

const KINDS = [
  {kind: "sprocs", feed: "StoredProcedures", title: "Stored procedures"},
  {kind: "triggers", feed: "Triggers", title: "Triggers"},
  {kind: "udfs", feed: "UserDefinedFunctions", title: "User-defined functions"},
];

export function scriptsView(container) {
  const status = new Status();
  const list = element("section", {"aria-label": "Scripts"}, status.node);
  const shown = element("section", {"aria-label": "Script"});
  status.during(async () => {
    const feeds = await Promise.all(KINDS.map(({kind}) => api.list(container._self, kind)));
    list.append(...KINDS.flatMap((kind, index) => listOf(kind, feeds[index].body[kind.feed], shown)));
    status.say("");
  });
  return element("div", {className: "columns"}, list, shown);
}

function listOf({kind, title}, scripts, shown) {
  const entries = scripts.map((script) =>
    element("li", {}, button(script.id, () => shown.replaceChildren(...scriptNodes(kind, script)), {className: "plain script"})),
  );
  return [
    element("h3", {}, title),
    entries.length ? element("ul", {}, ...entries) : element("p", {className: "quiet"}, "None."),
  ];
}

function scriptNodes(kind, script) {
  const when = kind === "triggers" ? [element("p", {}, `${script.triggerType}, on ${script.triggerOperation}`)] : [];
  return [
    element("h3", {}, script.id),
    ...when,
    element("pre", {className: "source", tabIndex: 0, "aria-label": "Code"}, script.body),
    ...(kind === "sprocs" ? [executionForm(script)] : []),
  ];
}

function executionForm(script) {
  const key = element("input", {id: "script-key", spellcheck: false, required: true, placeholder: KEY_HINT});
  const given = element("textarea", {id: "arguments", spellcheck: false, value: "[]"});
  const status = new Status();
  const result = element("pre", {id: "result", tabIndex: 0, "aria-label": "Result"});
  const log = element("pre", {id: "log", tabIndex: 0, "aria-label": "Log"});
  const output = element("div", {hidden: true}, element("h3", {}, "Result"), result, element("h3", {}, "Log"), log);
  const run = () =>
    status.during(async () => {
      output.hidden = true;
      const answer = await api.execute(script._self, listOfArguments(given.value), {
        ...api.partitionKeyHeader(typedKey(key.value)),
        "x-ms-documentdb-script-enable-logging": "true",
      });
      result.textContent = json(answer.body);
      log.textContent = answer.log || "(nothing logged)";
      output.hidden = false;
      status.say(`Executed: ${cost(answer)}`, "success");
    });
  return element(
    "form",
    {onsubmit: (event) => { event.preventDefault(); run(); }},
    ...field("Partition key", key),
    ...field("Arguments (JSON list)", given),
    element("div", {className: "actions"}, element("button", {type: "submit"}, "Execute")),
    status.node,
    output,
  );
}

function listOfArguments(text) {
  const given = JSON.parse(text.trim() || "[]");
  if (!Array.isArray(given)) throw new Error('Enter the arguments as a JSON list: ["a", 1].');
  return given;
}
