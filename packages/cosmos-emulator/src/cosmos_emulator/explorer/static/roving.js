// Keys that move the focus within a list, a tree, a grid or tabs: only one of their elements is in the Tab order.

/** Make `target` the one element of `all` that Tab reaches, and focus it. */
export function rove(all, target) {
  if (!target) return;
  for (const one of all) one.tabIndex = one === target ? 0 : -1;
  target.focus();
}

/** Return the index after a key in a list, or null for other keys. */
export function moved(key, index, length, {back = "ArrowUp", forth = "ArrowDown"} = {}) {
  const target = {[back]: index - 1, [forth]: index + 1, Home: 0, End: length - 1, PageUp: index - 10, PageDown: index + 10}[key];
  return target === undefined ? null : Math.max(0, Math.min(length - 1, target));
}
