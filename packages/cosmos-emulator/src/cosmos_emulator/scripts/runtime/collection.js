// The collection object. It validates and queues document operations and passes replies to callbacks.
//
// Sources: azure-cosmosdb-js-server DocDbWrapperScript.js (argument checks, defaults), DefinitelyTyped
// documentdb-server (ICollection). Unlike that source, it compares document links up to a slash, so collection `c1`
// rejects links into `c10`. Attachments and spatial functions are not supported.

const defaultPageSize = 100;
const largestPage = 1000;
const indexActions = ["", "default", "include", "exclude"];
const unsupported = [
  "readAttachment", "readAttachments", "queryAttachments", "createAttachment", "upsertAttachment",
  "replaceAttachment", "deleteAttachment",
];
const unsupportedSpatial = ["distance", "intersects", "isValid", "isValidDetailed", "within"];

function guid() {
  return replaced("xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx", /x/g, () => floor(random() * 16).toString(16));
}

// `options` can be omitted: a function in its place is the callback.
function optionsAndCallback(options, callback) {
  if (callback === undefined && typeof options === "function") return [{}, options];
  if (options !== undefined && (typeof options !== "object" || options === null)) {
    throw badRequest(`The "options" must be an object, not ${options === null ? "null" : typeof options}.`);
  }
  if (callback !== undefined && typeof callback !== "function") {
    throw badRequest(`The "callback" must be a function, not ${typeof callback}.`);
  }
  return [options ?? {}, callback];
}

function textOption(options, name) {
  const value = options[name] ?? "";
  if (typeof value !== "string" || !isWellFormed(value)) throw badRequest(`The option "${name}" must be a string.`);
  return value;
}

// Any action has no effect, because the indexing policy applies to every item.
function checkIndexAction(options) {
  const action = textOption(options, "indexAction");
  for (const known of indexActions) if (action === known) return;
  throw badRequest(`The option "indexAction" must be default, include or exclude, not "${action}".`);
}

// -1 lets the server choose, as in the SDKs.
function feedOptions(options) {
  const asked = options.pageSize || defaultPageSize;
  if (!isInteger(asked) || asked < -1) throw badRequest('The option "pageSize" must be a positive integer or -1.');
  const pageSize = asked === -1 || asked > largestPage ? largestPage : asked;
  return { __proto__: null, pageSize, continuation: textOption(options, "continuation") };
}

// Returns the JSON of a document to write. An added ID does not modify the script's object.
function documentText(body, addsId) {
  if (body === null || (typeof body !== "object" && typeof body !== "string")) {
    throw badRequest("The body of a document must be an object or its JSON string.");
  }
  const text = typeof body === "string" ? body : stringify(body);
  if (text === undefined) throw badRequest("The body of a document must be an object or its JSON string.");
  if (!addsId || (typeof body === "object" && body.id)) return text;
  let document;
  try {
    document = parse(text);
  } catch {
    throw badRequest("The body of a document must be an object or its JSON string.");
  }
  if (typeof document !== "object" || document === null || document.id) return text;
  document.id = guid();
  return stringify(document);
}

function queryOf(query) {
  const text = typeof query === "string" ? query : query?.query;
  const parameters = typeof query === "string" ? [] : query?.parameters ?? [];
  if (typeof text !== "string" || !isWellFormed(text) || !isArray(parameters)) {
    throw badRequest("A query must be a string or an object {query, parameters}.");
  }
  return { __proto__: null, text, parameters: stringify(parameters) };
}

function linkChecks(selfLink, altLink) {
  const refused = (link) => badRequest(
    `The link "${asString(link)}" is not in this collection; a script cannot use resources outside current collection.`,
  );
  const segmentsOf = (link) => (typeof link === "string" && isWellFormed(link) ? splitText(link, "/") : []);
  const isCollection = (parts) => lowerCased(parts[0] ?? "") === "dbs" && lowerCased(parts[2] ?? "") === "colls";
  return {
    collection(link) {
      if (!isCollection(segmentsOf(link))) throw badRequest(`This is not a collection link: "${asString(link)}".`);
      if (link !== selfLink && link !== altLink) throw refused(link);
    },
    // Returns the link without a trailing slash.
    document(link) {
      const parts = segmentsOf(link);
      const whole = parts.length === 6 || (parts.length === 7 && parts[6] === "");
      if (!whole || !isCollection(parts) || lowerCased(parts[4]) !== "docs" || parts[5] === "") {
        throw badRequest(`This is not a document link: "${asString(link)}".`);
      }
      if (!startsWith(link, selfLink) && !startsWith(link, `${altLink}/`)) throw refused(link);
      return parts.length === 7 ? slice(link, 0, -1) : link;
    },
  };
}

// Queues an operation. Its callback receives (err) or (undefined, result, options). Without a callback, an error is
// thrown and ends the script.
function queued(operation, callback, argumentsOf) {
  return enqueue(operation, ({ error, result, options }) => {
    if (error !== null) {
      const thrown = operationError(error);
      if (callback === undefined) throw thrown;
      callback(thrown);
    } else if (callback !== undefined) {
      apply(callback, undefined, argumentsOf(result, options));
    }
  });
}
const withResult = (result, options) => [undefined, result, options];
const withoutResult = (_, options) => [undefined, options];

function need(name, given, least) {
  if (given < least) throw badRequest(`${name} requires at least ${least} arguments but got ${given}.`);
}

function collectionOf({ selfLink, altLink }, response) {
  const links = linkChecks(selfLink, altLink);
  const read = (document) => (document === null ? undefined : document);
  const collection = {
    getSelfLink: () => selfLink,
    getAltLink: () => altLink,

    readDocument(...args) {
      need("readDocument", args.length, 1);
      const link = links.document(args[0]);
      const [options, callback] = optionsAndCallback(args[1], args[2]);
      const ifNoneMatch = textOption(options, "ifNoneMatch");
      return queued({ __proto__: null, name: "read", link, ifNoneMatch }, callback,
        (document, reply) => [undefined, read(document), reply]);
    },

    readDocuments(...args) {
      need("readDocuments", args.length, 1);
      links.collection(args[0]);
      const [options, callback] = optionsAndCallback(args[1], args[2]);
      const operation = { __proto__: null, name: "readFeed", ...feedOptions(options) };
      return queued(operation, callback, withResult);
    },

    queryDocuments(...args) {
      need("queryDocuments", args.length, 2);
      links.collection(args[0]);
      const query = queryOf(args[1]);
      const [options, callback] = optionsAndCallback(args[2], args[3]);
      return queued({ __proto__: null, name: "query", ...query, ...feedOptions(options) }, callback, withResult);
    },

    createDocument(...args) {
      need("createDocument", args.length, 2);
      links.collection(args[0]);
      const [options, callback] = optionsAndCallback(args[2], args[3]);
      const body = documentText(args[1], options.disableAutomaticIdGeneration !== true);
      checkIndexAction(options);
      return queued({ __proto__: null, name: "create", body }, callback, withResult);
    },

    upsertDocument(...args) {
      need("upsertDocument", args.length, 2);
      links.collection(args[0]);
      const [options, callback] = optionsAndCallback(args[2], args[3]);
      const body = documentText(args[1], options.disableAutomaticIdGeneration !== true);
      checkIndexAction(options);
      const etag = textOption(options, "etag");
      return queued({ __proto__: null, name: "upsert", body, etag }, callback, withResult);
    },

    replaceDocument(...args) {
      need("replaceDocument", args.length, 2);
      const link = links.document(args[0]);
      const [options, callback] = optionsAndCallback(args[2], args[3]);
      const body = documentText(args[1], false);
      checkIndexAction(options);
      const etag = textOption(options, "etag");
      return queued({ __proto__: null, name: "replace", link, body, etag }, callback, withResult);
    },

    deleteDocument(...args) {
      need("deleteDocument", args.length, 1);
      const link = links.document(args[0]);
      const [options, callback] = optionsAndCallback(args[1], args[2]);
      const etag = textOption(options, "etag");
      return queued({ __proto__: null, name: "delete", link, etag }, callback, withoutResult);
    },
  };
  addUnsupported(collection);
  return addQueries(collection, response);
}

function addUnsupported(collection) {
  const refusal = (name) => () => {
    throw badRequest(`${name} is not supported by this emulator.`);
  };
  for (const name of unsupported) collection[name] = refusal(name);
  collection.spatial = {};
  for (const name of unsupportedSpatial) collection.spatial[name] = refusal(`spatial.${name}`);
}
