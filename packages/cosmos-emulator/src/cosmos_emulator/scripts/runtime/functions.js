// User-defined functions, which have no context object.
//
// `dispatch("define", [name, body, clock, hidesNewer])` compiles a function; `dispatch("call", [name, ...arguments])` calls it. An
// argument is sent as [value], or as 0 if undefined. The reply is "=" and the JSON of the result, "?" for undefined, or
// "!" and the failure.

const functions = { __proto__: null };
let isPrepared = false;
const NativePromise = Promise;

// Unlike `list[list.length] = value`, this does not run setters that a script defined on Array.prototype.
function appendTo(list, value) {
  defineProperty(list, list.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
}

function failed(error, whileCompiling) {
  return `!${recordText({ __proto__: null, ...described(error), whileCompiling })}`;
}

function define(text) {
  try {
    const parts = parse(text);
    if (!isPrepared) {
      isPrepared = true;
      if (parts[2]) setClock(parts[2]);
      if (parts[3]) hideNewer();
    }
    functions[parts[0]] = compiled(parts[1]);
    return "?";
  } catch (error) {
    return failed(error, true);
  }
}

function call(text) {
  try {
    const parts = parse(text);
    const given = [];
    for (let index = 1; index < parts.length; index += 1) {
      appendTo(given, parts[index] === 0 ? undefined : parts[index][0]);
    }
    const result = apply(functions[parts[0]], undefined, given);
    if (result instanceof NativePromise) throw new TypeError("A user-defined function must not return a promise.");
    const answer = stringify(result);
    return answer === undefined ? "?" : `=${answer}`;
  } catch (error) {
    return failed(error, false);
  }
}

// `asString` flattens the reply, as in engine.js.
function dispatch(command, text) {
  return asString(command === "define" ? define(text) : call(text));
}
