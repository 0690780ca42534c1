// From the body of a script to its function.

const sourceOf = uncurried(Function.prototype.toString);
const insignificant = /^(?:[\s;]|\/\/[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*$/;
const matches = uncurried(RegExp.prototype.test);

// The text of one function expression or declaration: in parentheses a declaration becomes an expression, whether
// named, anonymous, arrow or async. A semicolon behind it, perhaps with comments, does not fit into parentheses.
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

// Behind `0,` the body is an expression statement, which may end with a semicolon; nothing else may follow.
function compiledWithEnd(body) {
  let entry;
  try {
    entry = compileText(`0,${body}`);
  } catch {
    return undefined; // the caller reports the error of the body as it stands
  }
  if (typeof entry !== "function") return undefined;
  const source = sourceOf(entry);
  const end = slice(body, positionOf(body, source) + source.length);
  return matches(insignificant, end) ? entry : undefined;
}
