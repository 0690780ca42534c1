// A client of the Cosmos DB REST API.
//
// Requests address resources by _self link (made of rids), because browsers normalize paths with ids such as "..".

import {ApiError, errorOf} from "./api-error.js";
import {remember, sessionOf} from "./session-tokens.js";
import {signed} from "./signature.js";

const API_VERSION = "2020-07-15";

/** @typedef {{status: number, body: any, headers: Headers, chargeRu: number, continuation: string | null, etag: string | null, log: string, ms: number}} Answer */

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
  const path = link.split("/").filter(Boolean).map(encodeURIComponent).join("/");
  const started = performance.now();
  const response = await respond(`/${path}`, {
    method: verb,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    headers: {
      "content-type": "application/json",
      "x-ms-version": API_VERSION,
      ...sessionOf(link),
      ...(await signed(verb, kind, ridOf(link).toLowerCase())),
      ...headers,
    },
  });
  const content = await response.text();
  const ms = performance.now() - started;
  remember(link, response.headers.get("x-ms-session-token"));
  if (response.status >= 400) throw errorOf(response, content);
  return {
    status: response.status,
    body: content ? JSON.parse(content) : null,
    headers: response.headers,
    chargeRu: Number(response.headers.get("x-ms-request-charge") ?? 0),
    continuation: response.headers.get("x-ms-continuation"),
    etag: response.headers.get("etag"),
    log: decodeURIComponent(response.headers.get("x-ms-documentdb-script-log-results") ?? ""),
    ms,
  };
}

export async function respond(path, request) {
  try {
    return await fetch(path, request);
  } catch (error) {
    throw new ApiError(0, 0, "No response", `The emulator did not respond (${error.message}).`);
  }
}

/** The rid to sign: of the resource itself, or of a feed's parent. */
function ridOf(link) {
  const segments = link.split("/").filter(Boolean);
  return segments.length % 2 ? (segments.at(-2) ?? "") : segments.at(-1);
}
