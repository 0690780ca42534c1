// Values of a container's partition key, in documents and as typed.

/** The property names of `/a/"b c"`. */
export const namesOf = (path) => path.slice(1).split("/").map((name) => name.replace(/^"|"$/g, ""));

/** The values of a document, one per path, with `{}` for a missing one, as in the header. */
export function keyOf(definition, document) {
  return definition.paths.map((path) => {
    const value = namesOf(path).reduce((inner, name) => inner?.[name], document);
    return value === undefined || (value !== null && typeof value === "object" && !Array.isArray(value)) ? {} : value;
  });
}

/** The typed values as in the header, null if empty. Text that is not JSON is a string. */
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

export const KEY_HINT = 'a string, JSON ("42"), or a list of values: ["a", 1]';
