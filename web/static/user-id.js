// The user ID of a signed-in caller. shared/auth/callers.py derives it in the same way (UUID version 5).
const NAMESPACE = "d3a5e9fc7d0f4c1c9a2e5b8c8b0f2f66";

/** @param {string} provider @param {string} principal */
export async function userIdOf(provider, principal) {
  const namespace = NAMESPACE.match(/../g).map(pair => parseInt(pair, 16));
  const name = new TextEncoder().encode(`${provider}\n${principal}`);
  const digest = await crypto.subtle.digest("SHA-1", new Uint8Array([...namespace, ...name]));
  const bytes = new Uint8Array(digest).slice(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x50;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
