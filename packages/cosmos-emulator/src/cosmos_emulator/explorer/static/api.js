// A client of the Cosmos DB REST API. It signs each request in the browser, like auth.py in azure-cosmos.
//
// Requests address resources by _self link (made of rids), because browsers normalize paths with ids such as "..".

// Public and identical in every Cosmos DB emulator.
const WELL_KNOWN_KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
const STORED_KEY = "cosmos-explorer-key";
const API_VERSION = "2020-07-15";

/** A request failed with `status` 400 or above, or got no response (`status` 0). */
export class ApiError extends Error {
  constructor(status, subStatus, code, message, chargeRu) {
    super(message);
    Object.assign(this, {status, subStatus, code, chargeRu});
  }
}

/** @typedef {{body: any, chargeRu: number, continuation: string | null, etag: string | null, log: string, ms: number}} Answer */

export function useKey(key) {
  sessionStorage.setItem(STORED_KEY, key);
}

export function hasOwnKey() {
  return sessionStorage.getItem(STORED_KEY) !== null;
}

export const read = (self, headers = {}) => send("GET", self, kindOf(self), {headers});
export const list = (owner, kind, headers = {}) => send("GET", `${owner}${kind}/`, kind, {headers});
export const create = (owner, kind, body, headers = {}) => send("POST", `${owner}${kind}/`, kind, {headers, body});
export const replace = (self, body, headers = {}) => send("PUT", self, kindOf(self), {headers, body});
export const remove = (self, headers = {}) => send("DELETE", self, kindOf(self), {headers});
export const execute = (self, body, headers = {}) => send("POST", self, kindOf(self), {headers, body});

/** One page of a query. The emulator merges the physical partitions' results, as an SDK does. */
export function query(owner, kind, text, parameters, headers = {}) {
  const asked = {
    "content-type": "application/query+json",
    "x-ms-documentdb-isquery": "true",
    "x-ms-documentdb-query-enablecrosspartition": "true",
    "x-ms-cosmos-emulator-merge-partitions": "true",
    ...headers,
  };
  return send("POST", `${owner}${kind}/`, kind, {headers: asked, body: {query: text, parameters}});
}

/** The partition key header, as ASCII-only JSON. */
export function partitionKeyHeader(values) {
  const text = JSON.stringify(values).replace(/[\u007f-\uffff]/g, escaped);
  return {"x-ms-documentdb-partitionkey": text};
}

const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
const kindOf = (self) => self.split("/").at(-3);

/** @returns {Promise<Answer>} */
async function send(verb, link, kind, {headers, body}) {
  const date = new Date().toUTCString();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const path = link.split("/").filter(Boolean).map(encodeURIComponent).join("/");
  const started = performance.now();
  const response = await respond(`/${path}`, {
    method: verb,
    body: text,
    cache: "no-store",
    headers: {
      "content-type": "application/json",
      "x-ms-version": API_VERSION,
      "x-ms-date": date,
      authorization: await authorization(verb, kind, ridOf(link), date),
      ...headers,
    },
  });
  const content = await response.text();
  const ms = performance.now() - started;
  const chargeRu = Number(response.headers.get("x-ms-request-charge") ?? 0);
  if (!response.ok) throw apiError(response, content, chargeRu);
  return {
    body: content ? JSON.parse(content) : null,
    chargeRu,
    continuation: response.headers.get("x-ms-continuation"),
    etag: response.headers.get("etag"),
    log: decodeURIComponent(response.headers.get("x-ms-documentdb-script-log-results") ?? ""),
    ms,
  };
}

async function respond(path, request) {
  try {
    return await fetch(path, request);
  } catch (error) {
    throw new ApiError(0, 0, "No response", `The emulator did not respond (${error.message}). Check that it is running.`, 0);
  }
}

function apiError(response, content, chargeRu) {
  const subStatus = Number(response.headers.get("x-ms-substatus") ?? 0);
  let code = response.statusText;
  let message = content;
  try {
    ({code, message} = JSON.parse(content));
  } catch {
    // The body is not the gateway's JSON; show it unchanged.
  }
  return new ApiError(response.status, subStatus, code, readable(message), chargeRu);
}

/** Extract the errors from `Message: {"Errors":["…"]}\r\nActivityId: …`; return any other text unchanged. */
function readable(message) {
  const errors = /^Message: (\{.*\})\r?\n/s.exec(message);
  if (!errors) return message;
  try {
    return JSON.parse(errors[1]).Errors.join("\n");
  } catch {
    return message;
  }
}

/** The rid to sign: of the resource itself, or of a feed's parent. */
function ridOf(link) {
  const segments = link.split("/").filter(Boolean);
  return segments.length % 2 ? (segments.at(-2) ?? "") : segments.at(-1);
}

async function authorization(verb, kind, rid, date) {
  if (!crypto.subtle) {
    throw new ApiError(0, 0, "No signature", "Browsers can sign requests only over HTTPS or on localhost. Open the explorer at one of those addresses.", 0);
  }
  const payload = `${verb.toLowerCase()}\n${kind}\n${rid.toLowerCase()}\n${date.toLowerCase()}\n\n`;
  const secret = bytesOf(sessionStorage.getItem(STORED_KEY) ?? WELL_KNOWN_KEY);
  const key = await crypto.subtle.importKey("raw", secret, {name: "HMAC", hash: "SHA-256"}, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(payload)));
  return encodeURIComponent(`type=master&ver=1.0&sig=${btoa(String.fromCharCode(...signature))}`);
}

function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    throw new ApiError(401, 0, "Unauthorized", "The key is not base64.", 0);
  }
}
