// QuickJS looks at the clock in calls, in jumps and in most built-ins, but not inside the loops of those below.
//
// The memory limit ends every loop that builds something. What is left is refused here: a sparse array or array-like
// object of enormous length, and the search for a long text in a long text. The bounds keep each under about 1 s.

const longestLoop = 2 ** 24;
const mostComparisons = 2 ** 30;
const toObject = Object;
const { isConcatSpreadable } = Symbol;

function refuseEndlessLength(target) {
  let owner = target === undefined || target === null ? null : toObject(target);
  while (owner !== null && !hasOwn(owner, "length")) owner = getPrototypeOf(owner);
  if (owner === null) return;
  const { value } = getOwnPropertyDescriptor(owner, "length");
  if (typeof value !== "number") throw new TypeError("Array methods need a length that is a plain number here.");
  if (value > longestLoop) throw new RangeError(`An array of length ${value} is too long for this method.`);
}

function guardArrayMethod(name) {
  const native = Array.prototype[name];
  const { [name]: guarded } = {
    [name](...args) {
      refuseEndlessLength(this);
      return apply(native, this, args);
    },
  };
  hide(Array.prototype, name, guarded);
}

const loopingArrayMethods = [
  "copyWithin", "fill", "join", "reverse", "shift", "slice", "sort", "splice", "toLocaleString", "unshift",
];
for (const name of loopingArrayMethods) guardArrayMethod(name);

function put(list, index, value) {
  defineProperty(list, index, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
}

function appendTo(list, value) {
  put(list, list.length, value);
}

// Whether an argument is spread is asked in its turn, by a getter that may lengthen the arguments behind it.
hide(Array.prototype, "concat", function concat(...items) {
  const joined = [];
  let length = 0;
  for (let index = -1; index < items.length; index += 1) {
    const item = index < 0 ? toObject(this) : items[index];
    const isObject = (typeof item === "object" && item !== null) || typeof item === "function";
    const isSpread = isObject && (item[isConcatSpreadable] ?? isArray(item));
    for (let at = 0; at < (isSpread ? item.length : 1); at += 1, length += 1) {
      if (!isSpread || at in item) put(joined, length, isSpread ? item[at] : item);
    }
  }
  joined.length = length;
  return joined;
});

const rawText = String.raw;
hide(String, "raw", function raw(template, ...values) {
  const texts = template.raw;
  refuseEndlessLength(texts);
  return apply(rawText, undefined, [{ __proto__: null, raw: texts }, ...values]);
});

function flattenInto(list, items, depth) {
  for (let index = 0; index < items.length; index += 1) {
    if (depth > 0 && isArray(items[index])) flattenInto(list, items[index], depth - 1);
    else if (index in items) appendTo(list, items[index]);
  }
  return list;
}

hide(Array.prototype, "flat", function flat(depth = 1) {
  return flattenInto([], this, +depth);
});

hide(Array.prototype, "flatMap", function flatMap(callback, self) {
  const mapped = [];
  for (let index = 0; index < this.length; index += 1) {
    if (index in this) appendTo(mapped, apply(callback, self, [this[index], index, this]));
  }
  return flattenInto([], mapped, 1);
});

function guardTextSearch(name, search) {
  const native = String.prototype[name];
  const { [name]: guarded } = {
    [name](sought, ...rest) {
      if (this === undefined || this === null) throw new TypeError(`${name}() needs a text.`);
      if (name === "replaceAll" && sought instanceof RegExp && !sought.global) {
        throw new TypeError("replaceAll() needs a regular expression with the flag g.");
      }
      const method = search === undefined ? undefined : sought?.[search];
      if (method !== undefined && method !== null) return apply(method, sought, [this, ...rest]);
      const text = asString(this);
      const needle = sought === undefined && name === "split" ? sought : asString(sought);
      if (needle !== undefined && text.length * needle.length > mostComparisons) {
        throw new RangeError(`${name}() of so long a text in so long a text is not supported.`);
      }
      return apply(native, text, [needle, ...rest]);
    },
  };
  hide(String.prototype, name, guarded);
}

guardTextSearch("indexOf", undefined);
guardTextSearch("lastIndexOf", undefined);
guardTextSearch("split", Symbol.split);
guardTextSearch("replace", Symbol.replace);

guardTextSearch("replaceAll", Symbol.replace);

const positionOfText = String.prototype.indexOf;
hide(String.prototype, "includes", function includes(sought, position) {
  if (sought?.[Symbol.match] !== undefined) throw new TypeError("includes() does not take a regular expression.");
  return apply(positionOfText, this, [sought, position]) !== -1;
});
