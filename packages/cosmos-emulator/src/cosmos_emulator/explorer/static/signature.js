// Sign requests with the account key, like auth.py in azure-cosmos. The key never leaves the tab.

import {ApiError} from "./api-error.js";

// Public and identical in every Cosmos DB emulator.
const WELL_KNOWN_KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
const STORED_KEY = "cosmos-explorer-key";

export const currentKey = () => sessionStorage.getItem(STORED_KEY) ?? WELL_KNOWN_KEY;
export const hasOwnKey = () => sessionStorage.getItem(STORED_KEY) !== null;

/** Keep a key until the tab is closed. An empty one stands for the well-known key. */
export function useKey(key) {
  if (key) sessionStorage.setItem(STORED_KEY, key);
  else sessionStorage.removeItem(STORED_KEY);
}

/** The headers that sign a request. `link` is the lower-case rid of a resource, or a path of names. */
export async function signed(verb, kind, link) {
  if (!crypto.subtle) {
    throw new ApiError(0, 0, "No signature", `Browsers can sign requests only over HTTPS or on localhost. Open the explorer at http://localhost:${location.port}/_explorer/.`);
  }
  const date = new Date().toUTCString();
  const payload = `${verb.toLowerCase()}\n${kind}\n${link}\n${date.toLowerCase()}\n\n`;
  const secret = bytesOf(currentKey());
  const key = await crypto.subtle.importKey("raw", secret, {name: "HMAC", hash: "SHA-256"}, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(payload)));
  const text = btoa(String.fromCharCode(...signature));
  return {"x-ms-date": date, authorization: encodeURIComponent(`type=master&ver=1.0&sig=${text}`)};
}

function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    throw new ApiError(401, 0, "Unauthorized", "The key is not base64.");
  }
}
