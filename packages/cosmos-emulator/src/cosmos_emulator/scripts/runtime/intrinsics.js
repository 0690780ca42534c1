// Built-ins captured before any script runs.
//
// The files of this folder are joined into one strict function (../sources.py) and share its scope. The runtime keeps
// its state in closure variables and objects without a prototype, and uses only the functions below. A script can
// therefore replace any global or prototype without affecting the runtime. Time limits are not enforced here: the
// watchdog kills the process of a script that QuickJS does not interrupt.

const { apply, construct, defineProperty, getPrototypeOf, setPrototypeOf } = Reflect;
const { parse, stringify } = JSON;
const { isArray } = Array;
const { isInteger } = Number;
const { keys } = Object;
const { floor, random } = Math;
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

// Web APIs that the service's engine does not provide.
for (const name of ["DOMException", "atob", "btoa", "performance", "queueMicrotask"]) delete globalThis[name];

// These would let a script reach the runtime's functions through stack frames.
for (const name of ["captureStackTrace", "prepareStackTrace", "stackTraceLimit"]) delete Error[name];
