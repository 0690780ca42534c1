// Partition key values, from documents and from user input.

/** Split a path such as `/a/"b c"` into property names. */
export const namesOf = (path) => path.slice(1).split("/").map((name) => name.replace(/^"|"$/g, ""));

/** A document's values, one per path. `{}` means missing, as in the request header. */
export function keyOf(definition, document) {
  return definition.paths.map((path) => {
    const value = namesOf(path).reduce((inner, name) => inner?.[name], document);
    return value === undefined || (value !== null && typeof value === "object" && !Array.isArray(value)) ? {} : value;
  });
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

export const KEY_HINT = 'text, JSON ("42"), or a list of values: ["a", 1]';
