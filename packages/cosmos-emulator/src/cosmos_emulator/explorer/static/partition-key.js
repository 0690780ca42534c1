// Partition key values, from documents and from user input.

/** Split a path such as `/a/"b c"` into property names. */
export const namesOf = (path) => path.slice(1).split("/").map((name) => name.replace(/^"|"$/g, ""));

/** The value at a path of a document, or undefined. Ignores properties that every object has, such as `constructor`. */
export const valueAt = (document, path) =>
  namesOf(path).reduce((inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), document);

export const isObject = (value) => value !== null && typeof value === "object";

/** A document's values, one per path. `{}` means missing, as in the request header. */
export function keyOf(definition, document) {
  return definition.paths.map((path) => {
    const value = valueAt(document, path);
    return value === undefined || (isObject(value) && !Array.isArray(value)) ? {} : value;
  });
}

/** A new document with an empty value at every path of the key. */
export function template(definition) {
  // Without a prototype, so that a path such as /__proto__/a creates properties of its own.
  const document = Object.assign(Object.create(null), {id: crypto.randomUUID()});
  for (const path of definition.paths) {
    const names = namesOf(path);
    const owner = names.slice(0, -1).reduce((inner, name) => (inner[name] ??= Object.create(null)), document);
    owner[names.at(-1)] ??= "";
  }
  return document;
}

/** Parse user input (JSON or plain text) into the header's list. Returns null for empty input. */
export function typedKey(text) {
  const trimmed = text.trim();
  if (!trimmed) return null;
  try {
    const value = JSON.parse(trimmed);
    return Array.isArray(value) ? value : [value];
  } catch {
    return [trimmed];
  }
}

export const KEY_HINT = 'Text, JSON ("42" is the text 42), or a list: ["a", 1]';
