// The JavaScript query API: filter, map, pluck, flatten, unwind, sortBy, sortByDescending and chain.
//
// Each call queries one page of documents and processes only that page. Sources: docs "JavaScript query API in Azure
// Cosmos DB" and azure-cosmosdb-js-server DocDbWrapperScript.js (argument forms; without a callback, the result is
// appended to the body).

const everyDocument = { __proto__: null, text: "SELECT * FROM c", parameters: "[]" };

// The order of types in ORDER BY.
const typeOrder = { __proto__: null, undefined: 0, boolean: 2, number: 3, string: 4, object: 5 };
const typeRank = (key) => (key === null ? 1 : typeOrder[typeof key] ?? 6);

function compared(left, right) {
  const ranks = typeRank(left) - typeRank(right);
  if (ranks !== 0 || typeRank(left) >= typeOrder.object) return ranks;
  return left < right ? -1 : +(left > right);
}

function sorted(documents, keyOf, direction) {
  const keyed = documents.map((document) => ({ document, key: keyOf(document) }));
  return keyed.sort((a, b) => direction * compared(a.key, b.key)).map(({ document }) => document);
}

function unwound(documents, innerOf, combined) {
  const results = [];
  for (const document of documents) {
    const inner = innerOf(document);
    if (!isArray(inner)) continue;
    for (const element of inner) results.push(combined ? combined(document, element) : element);
  }
  return results;
}

// A step maps a page to a page. Its maker receives the arguments without a leading collection and returns
// [step, remaining arguments (options and callback)].
function functionStep(name, stepOf) {
  return ([callback, ...rest]) => {
    if (typeof callback !== "function") throw badRequest(`${name} requires a function.`);
    return [stepOf(callback), rest];
  };
}

const makers = {
  filter: functionStep("filter", (predicate) => (page) => page.filter((document) => predicate(document))),
  map: functionStep("map", (projection) => (page) => page.map((document) => projection(document))),
  sortBy: functionStep("sortBy", (keyOf) => (page) => sorted(page, keyOf, 1)),
  sortByDescending: functionStep("sortByDescending", (keyOf) => (page) => sorted(page, keyOf, -1)),

  pluck([name, ...rest]) {
    if (typeof name !== "string" || name === "") throw badRequest("pluck requires a property name.");
    return [(page) => page.map((document) => document[name]), rest];
  },

  flatten(args) {
    const rest = typeof args[0] === "boolean" || args[0] === undefined ? args.slice(1) : args;
    return [(page) => page.flat(args[0] === true ? 1 : Infinity), rest];
  },

  unwind([innerOf, ...rest]) {
    if (typeof innerOf !== "function" || innerOf.length !== 1) {
      throw badRequest("unwind requires a function of one argument that selects the inner collection.");
    }
    const combined = typeof rest[0] === "function" || rest.length > 2 ? rest.shift() : undefined;
    if (combined && combined.length < 2) throw badRequest("The result selector of unwind must take two arguments.");
    return [(page) => unwound(page, innerOf, combined), rest];
  },
};

function addQueries(collection, response) {
  const appendToBody = (error, page) => {
    if (error) throw error;
    if (!response) throw badRequest("A query requires a callback if the script has no response.");
    response.appendBody(stringify(page));
  };

  const fetchThrough = (steps, givenOptions, givenCallback) => {
    const [options, callback = appendToBody] = optionsAndCallback(givenOptions, givenCallback);
    const operation = { __proto__: null, name: "query", ...everyDocument, ...feedOptions(options) };
    const isAccepted = enqueue(operation, ({ error, result, options: reply }) => {
      if (error !== null) return callback(operationError(error));
      let page = result;
      try {
        for (const step of steps) page = step(page);
      } catch (thrown) {
        return callback(thrown);
      }
      return callback(undefined, page, reply);
    });
    return { isAccepted };
  };

  const isCollection = (value) => value === collection || (typeof value === "object" && value !== null
    && getPrototypeOf(value) === collection);
  const withoutCollection = (args) => (isCollection(args[0]) ? args.slice(1) : args);

  const chainOf = (steps) => {
    const chained = { isAccepted: true, value: (options, callback) => fetchThrough(steps, options, callback) };
    for (const name of keys(makers)) {
      chained[name] = (...args) => {
        const [step, rest] = makers[name](withoutCollection(args));
        if (rest.some((argument) => argument !== undefined)) {
          throw badRequest(`In a chain, pass options and callback to value(), not to ${name}().`);
        }
        return chainOf([...steps, step]);
      };
    }
    return chained;
  };

  for (const name of keys(makers)) {
    collection[name] = (...args) => {
      const [step, [options, callback]] = makers[name](withoutCollection(args));
      return fetchThrough([step], options, callback);
    };
  }
  collection.chain = () => chainOf([]);
  return collection;
}
