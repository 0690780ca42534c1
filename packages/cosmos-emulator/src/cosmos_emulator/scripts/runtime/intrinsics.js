// The engine's own built-ins, taken before any script runs, and the closing of what a script must not reach.
//
// The files of this folder are joined into one strict function (see ../sources.py) and share its scope. State of the
// engine lives in closure variables and in objects without a prototype, and is read and written with the functions
// below only: a script may redefine every global and every prototype and then harms nothing but itself.

const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Reflect;
const { parse, stringify } = JSON;
const { isArray } = Array;
const { isInteger } = Number;
const { keys } = Object;
const { floor, max, random } = Math;
const compileText = globalThis.eval;
const now = Date.now;
const asString = String;

const uncurried = (method) => (self, ...args) => apply(method, self, args);
const hasOwn = Object.hasOwn;
const isWellFormed = uncurried(String.prototype.isWellFormed);
const lowerCased = uncurried(String.prototype.toLowerCase);
const positionOf = uncurried(String.prototype.indexOf);
const replaced = uncurried(String.prototype.replace);
const slice = uncurried(String.prototype.slice);
const splitText = uncurried(String.prototype.split);
const toWellFormed = uncurried(String.prototype.toWellFormed);
const startsWith = uncurried(String.prototype.startsWith);

function hide(target, name, value) {
  defineProperty(target, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
}

// What the service's engine does not have, or what would let a script wait, schedule or watch the collector.
// Proxy goes because nothing could then tell the true length of an array (see guards.js).
const withheld = [
  "Atomics", "DOMException", "FinalizationRegistry", "Proxy", "SharedArrayBuffer", "WeakRef",
  "atob", "btoa", "performance", "queueMicrotask",
];
for (const name of withheld) delete globalThis[name];
for (const name of ["captureStackTrace", "prepareStackTrace", "stackTraceLimit"]) delete Error[name];

// The interrupt at the time limit is an InternalError that the host turns into text when no limit applies any more:
// every property which that reads must be beyond a script's reach.
for (const name of ["toString", "stack"]) {
  defineProperty(InternalError.prototype, name, getOwnPropertyDescriptor(Error.prototype, name));
}
hide(InternalError.prototype, Symbol.toPrimitive, undefined);
hide(InternalError.prototype, "valueOf", Object.prototype.valueOf);
Object.freeze(InternalError.prototype);

// An exception that leaves a promise job also reaches the host. With the built-in Promise none can; a subclass
// could hand `then` functions that throw.
const nativeThen = Promise.prototype.then;
hide(Promise.prototype, "then", function then(onFulfilled, onRejected) {
  if (getPrototypeOf(this) !== Promise.prototype || hasOwn(this, "constructor")) {
    throw new TypeError("Subclasses of Promise are not supported in server-side scripts.");
  }
  return apply(nativeThen, this, [onFulfilled, onRejected]);
});
for (const [target, name] of [[Promise.prototype, "constructor"], [Promise, "prototype"], [Promise, Symbol.species]]) {
  defineProperty(target, name, { __proto__: null, configurable: false });
}
defineProperty(Promise.prototype, "constructor", { __proto__: null, writable: false });
