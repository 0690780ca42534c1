// Compiles the body of a script to its function.

const sourceOf = uncurried(Function.prototype.toString);
const insignificant = /^(?:[\s;]|\/\/[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*$/;
const matches = uncurried(RegExp.prototype.test);

// Parentheses turn a function declaration of any kind into an expression, but reject a semicolon after it.
function compiled(body) {
  let entry;
  try {
    entry = compileText(`(${body}\n)`);
  } catch (error) {
    entry = compiledWithEnd(body);
    if (entry === undefined) throw error;
  }
  if (typeof entry !== "function") throw new NumberedError("The body of a script must be one function.");
  return entry;
}

// After `0,` the body is an expression statement and can end with a semicolon, but nothing else can follow.
function compiledWithEnd(body) {
  let entry;
  try {
    entry = compileText(`0,${body}`);
  } catch {
    return undefined; // the caller reports the error of the unchanged body
  }
  if (typeof entry !== "function") return undefined;
  const source = sourceOf(entry);
  const end = slice(body, positionOf(body, source) + source.length);
  return matches(insignificant, end) ? entry : undefined;
}
