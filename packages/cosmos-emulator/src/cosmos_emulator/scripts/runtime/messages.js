// The globals of procedures and triggers: getContext(), `__`, ErrorCodes and console.
//
// Source: azure-cosmosdb-js-server DocDbWrapperScript.js. As there, each message property has a get function and, if
// writable, set and append functions. Size limits count characters.

const isText = (value) => typeof value === "string";

function lengthOf(value) {
  if (value === null || value === undefined) return 0;
  return (typeof value === "object" ? stringify(value) ?? "" : asString(value)).length;
}

// Returns a message with `properties` {name: {value, writable}} of at most `limit` characters each.
function message(properties, limit) {
  const writable = (name) => {
    if (!isText(name) || !hasOwn(properties, name)) throw badRequest(`There is no property "${asString(name)}" to set.`);
    if (!properties[name].writable) {
      throw new NumberedError(ErrorCodes.Forbidden, `The property "${name}" cannot be written.`);
    }
    return properties[name];
  };
  const getValue = (name) => {
    if (!isText(name) || !hasOwn(properties, name)) throw new TypeError(`There is no property "${asString(name)}".`);
    return properties[name].value;
  };
  const setValue = (name, value) => {
    const property = writable(name);
    if (lengthOf(value) > limit) throw tooLarge(name);
    property.value = value;
  };
  const appendValue = (name, value) => {
    const property = writable(name);
    const old = property.value;
    const joined = old === null || old === undefined ? value : old + value;
    if (lengthOf(joined) > limit) throw tooLarge(name);
    property.value = joined;
  };

  const accessors = { getValue };
  for (const name of keys(properties)) {
    accessors[`get${name}`] = () => getValue(name);
    if (!properties[name].writable) continue;
    accessors[`set${name}`] = (value) => setValue(name, value);
    accessors[`append${name}`] = (value) => appendValue(name, value);
    accessors.setValue = setValue;
    accessors.appendValue = appendValue;
  }
  return accessors;
}

const property = (value, writable) => ({ __proto__: null, value, writable });

// Returns the request and response properties for a kind of script. A pre-trigger has no response. A post-trigger can
// change the response to the client, not the stored document.
function messagesOf({ kind, requestBody, responseBody, operationType, quota, usage }) {
  switch (kind) {
    case "procedure":
      return { request: { Body: property(requestBody, false) }, response: { Body: property("", true) } };
    case "pre":
      return { request: { Body: property(requestBody, true), OperationType: property(operationType, false) } };
    default:
      return {
        request: { Body: property(requestBody, false), OperationType: property(operationType, false) },
        response: {
          Body: property(responseBody, true),
          ResourceQuotaCurrentUsage: property(usage, false),
          MaxResourceQuota: property(quota, false),
        },
      };
  }
}

// Replaces `%s` with the next argument and `%%` with a percent sign. As in browsers, the other arguments follow.
function substituted(format, values) {
  let used = 0;
  let text = replaced(format, /%([%s])/g, (_, directive) => {
    if (directive === "%") return "%";
    used += 1;
    return asString(values[used - 1]);
  });
  for (; used < values.length; used += 1) text += " " + asString(values[used]);
  return text;
}

// Concatenates the text of all console.log calls. Without logging, they do nothing.
function exposeConsole(logging, limit) {
  const written = { __proto__: null, text: "" };
  const log = (...values) => {
    if (!logging) return;
    if (values.length === 0) throw badRequest("console.log requires at least one argument.");
    if (values.length > 1 && !isText(values[0])) {
      throw badRequest("The first of several arguments of console.log must be a format string.");
    }
    const [format, ...rest] = values;
    const text = written.text + (values.length === 1 ? asString(format) : substituted(format, rest));
    if (text.length > limit) throw tooLarge("x-ms-documentdb-script-log-results");
    written.text = text;
  };
  hide(globalThis, "console", { log });
  return written;
}

// Defines the globals of a procedure or trigger. Returns the function that reports its result.
function exposeContext(settings) {
  const messages = messagesOf(settings);
  const request = message(messages.request, settings.responseLimit);
  const response = messages.response && message(messages.response, settings.responseLimit);
  const collection = collectionOf(settings, response);
  const context = {
    getCollection: () => collection,
    getRequest: () => request,
    abort(error) {
      run.failure ??= described(error);
      throw error;
    },
  };
  const shortcut = Object.create(collection);
  shortcut.request = request;
  if (response) {
    context.getResponse = () => response;
    shortcut.response = response;
  }

  hide(globalThis, "getContext", () => context);
  hide(globalThis, "__", shortcut);
  hide(globalThis, "ErrorCodes", ErrorCodes);
  const written = exposeConsole(settings.logging, settings.logLimit);
  const result = (messages.response ?? messages.request).Body;
  return () => ({ __proto__: null, body: stringify(result.value) ?? null, log: toWellFormed(written.text) });
}
