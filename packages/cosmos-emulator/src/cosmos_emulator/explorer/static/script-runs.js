// Run a saved script: a stored procedure with its log, a trigger with a write, a function in a query.

import * as api from "./api.js";
import {CodeEditor} from "./code-editor.js";
import {element, field, json, output, select} from "./dom.js";
import {KEY_HINT, keyOf, template, typedKey} from "./partition-key.js";
import {Status, cost} from "./status.js";

const FORMS = {sprocs: procedureForm, triggers: triggerForm, udfs: functionForm};

/** `current` returns the script as last saved. */
export function runForm(container, kind, current) {
  const {fields, run, action} = FORMS[kind](container, current);
  const status = new Status();
  const results = element("div");
  const submit = (event) => {
    event.preventDefault();
    return status.during(async () => {
      results.replaceChildren();
      const {answer, value, log} = await run();
      const logged = log === undefined ? [] : [element("h4", {}, "Log"), output("log", "Log", log || "(nothing logged)")];
      results.replaceChildren(element("h4", {}, "Result"), output("result", "Result", json(value) ?? "(undefined)"), ...logged);
      status.say(`Executed: ${cost(answer)}`, "success");
    });
  };
  return element(
    "form",
    {className: "run", onsubmit: submit, onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event); }},
    element("h3", {}, "Run"),
    ...fields,
    element("div", {className: "actions"}, element("button", {type: "submit", "aria-keyshortcuts": "Control+Enter"}, action)),
    status.node,
    results,
  );
}

function procedureForm(container, current) {
  const key = element("input", {id: "script-key", spellcheck: false, autocomplete: "off", required: true});
  const given = new CodeEditor("json", {id: "arguments", value: "[]"});
  const run = async () => {
    const answer = await api.execute(current()._self, listOfArguments(given), {
      ...api.partitionKeyHeader(typedKey(key.value)),
      "x-ms-documentdb-script-enable-logging": "true",
    });
    return {answer, value: answer.body, log: answer.log};
  };
  const fields = [field("Partition key", key, KEY_HINT), field("Arguments (JSON list)", given.node, "As the function's parameters: [\"ada\", 3]")];
  return {fields, run, action: "Execute"};
}

function triggerForm(container, current) {
  const operation = select({id: "trigger-write"}, [["upsert", "Upsert"], ["create", "Create"], ["replace", "Replace"], ["delete", "Delete"]]);
  operation.value = {Create: "create", Replace: "replace", Delete: "delete"}[current().triggerOperation] ?? "upsert";
  const item = new CodeEditor("json", {id: "trigger-item", value: json(template(container.partitionKey))});
  const run = async () => {
    const document = item.parsed("The item");
    const side = current().triggerType === "Pre" ? "pre" : "post";
    const headers = {
      ...api.partitionKeyHeader(keyOf(container.partitionKey, document)),
      [`x-ms-documentdb-${side}-trigger-include`]: current().id,
    };
    const answer = await write(container, operation.value, document, headers);
    return {answer, value: answer.body};
  };
  const hint = "This write is real. The service has no log of triggers: to see values, add them to the item or throw them.";
  return {fields: [field("With a write", operation, hint), field("Item (JSON)", item.node)], run, action: "Write the item"};
}

async function write(container, operation, document, headers) {
  if (operation === "create") return api.create(container._self, "docs", document, headers);
  if (operation === "upsert") return api.create(container._self, "docs", document, {...headers, "x-ms-documentdb-is-upsert": "true"});
  const key = {"x-ms-documentdb-partitionkey": headers["x-ms-documentdb-partitionkey"]};
  const found = await api.query(container._self, "docs", "SELECT c._self FROM c WHERE c.id = @id", [{name: "@id", value: document.id}], key);
  if (!found.body.Documents.length) throw new Error(`There is no item ${JSON.stringify(document.id)} with this partition key. Enter the id of a stored item.`);
  const self = found.body.Documents[0]._self;
  return operation === "replace" ? api.replace(self, document, headers) : api.remove(self, headers);
}

function functionForm(container, current) {
  const given = new CodeEditor("json", {id: "arguments", value: "[]"});
  const run = async () => {
    const parameters = listOfArguments(given).map((value, index) => ({name: `@p${index}`, value}));
    const call = `udf.${current().id}(${parameters.map(({name}) => name).join(", ")})`;
    const answer = await api.query(container._self, "docs", `SELECT VALUE [${call}]`, parameters);
    return {answer, value: answer.body.Documents[0][0]};
  };
  const hint = `Runs a query without items. In your queries: SELECT udf.${current().id}(c.total) FROM c`;
  return {fields: [field("Arguments (JSON list)", given.node, hint)], run, action: "Call"};
}

function listOfArguments(editor) {
  const given = editor.value.trim() ? editor.parsed("The list of arguments") : [];
  if (!Array.isArray(given)) throw new Error('Enter the arguments as a JSON list: ["a", 1].');
  return given;
}
