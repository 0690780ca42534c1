// `Error` with the service's two-argument form, the error codes, and the description of thrown values.
//
// Sources: azure-cosmosdb-js-server DocDbWrapperScript.js (ErrorCodes, `new Error(code, message)`); DefinitelyTyped
// documentdb-server (IFeedCallback's `err`: number, body).

const NativeError = globalThis.Error;
const nativeErrors = ["AggregateError", "EvalError", "InternalError", "RangeError", "ReferenceError", "SuppressedError",
  "SyntaxError", "TypeError", "URIError"];

// Adds `new Error(number, message)` to the standard forms.
function NumberedError(...parts) {
  const numbered = parts.length > 1 && typeof parts[0] === "number";
  const error = construct(NativeError, numbered ? [parts[1]] : parts, new.target ?? NumberedError);
  if (numbered) hide(error, "number", parts[0]);
  return error;
}
defineProperty(NumberedError, "name", { __proto__: null, value: "Error" });
defineProperty(NumberedError, "length", { __proto__: null, value: 1 });
NumberedError.prototype = NativeError.prototype;
hide(NativeError.prototype, "constructor", NumberedError);
hide(globalThis, "Error", NumberedError);
for (const name of nativeErrors) setPrototypeOf(globalThis[name], NumberedError);

const ErrorCodes = Object.freeze({
  BadRequest: 400,
  Forbidden: 403,
  NotFound: 404,
  Conflict: 409,
  PreconditionFailed: 412,
  RequestEntityTooLarge: 413,
  RetryWith: 449,
  InternalServerError: 500,
});

// The runtime's own size errors. If uncaught, they return 413 instead of 400.
const sizeErrors = new WeakSet();
const addToSet = uncurried(WeakSet.prototype.add);
const isInSet = uncurried(WeakSet.prototype.has);

function badRequest(message) {
  return new NumberedError(ErrorCodes.BadRequest, message);
}

function tooLarge(name) {
  const error = new NumberedError(
    ErrorCodes.RequestEntityTooLarge,
    `The message is too large because of "${name}"; return less and let the client call again for the rest.`,
  );
  addToSet(sizeErrors, error);
  return error;
}

// Returns a callback's `err` for a failed operation, {number, message} from the host.
function operationError({ number, message }) {
  const body = `{"Errors":[${stringify(message)}]}`;
  const error = new NumberedError(number, body);
  hide(error, "body", body);
  return error;
}

const longestReport = 8192; // characters

function orElse(read, otherwise) {
  try {
    return read();
  } catch {
    return otherwise; // the script's getter or toString threw
  }
}

const reported = (value) => toWellFormed(slice(asString(value), 0, longestReport));

// Returns the description of a thrown value that the host reports.
function described(thrown) {
  const isObject = (typeof thrown === "object" || typeof thrown === "function") && thrown !== null;
  const number = orElse(() => thrown.number, 0);
  return {
    __proto__: null,
    text: orElse(() => reported(thrown), "a value without a text form"),
    number: isObject && isInteger(number) ? number : 0,
    stack: orElse(() => reported(thrown.stack), ""),
    tooLarge: isObject && isInSet(sizeErrors, thrown),
  };
}

// Returns the JSON of nested records of plain values. `stringify` is safe only for plain values: for objects it uses an
// ordinary array, and a script can define setters on array indexes.
function recordText(record) {
  const names = keys(record);
  let members = "";
  for (let index = 0; index < names.length; index += 1) {
    const value = record[names[index]];
    const text = typeof value === "object" && value !== null ? recordText(value) : stringify(value) ?? "null";
    members += `${index === 0 ? "" : ","}"${names[index]}":${text}`;
  }
  return `{${members}}`;
}
