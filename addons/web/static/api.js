// Requests to the app. A failure becomes an Error whose message says what to do.
import { HEADER, keepSession, sessionToken } from "./session.js";
import { tabStorage } from "./storage.js";

const READ_ONLY =
  "This site is read-only: commands need a function key, which a page must not contain. " +
  "To let people sign in, set BLOG_AUTH to app-service; see docs/sign-in.md.";
const DELETED = "This was deleted. Reload the page.";
const ADVICE = {
  400: "The blog did not understand this request. Reload the page, then try again.",
  401: "You are no longer signed in. Sign in, then try again.",
  403: "You can change only what you wrote. Sign in as its author, then try again.",
  404: DELETED,
  412: "This has changed since you loaded it. Reload the page to see the current version.",
  413: "This is too long. Shorten it, then try again.",
  429: "The blog is very busy. Wait a few seconds, then try again.",
  500: "The server failed. Try again; if that does not help, come back later.",
  503: "The database cannot be reached. Wait a few seconds, then try again.",
};
// Limits of one user, which also have the status 429.
const OWN_LIMITS = ["Too many exports", "Too many renames"];
// Prefix of the idempotency keys of commands without a definite answer. Repeating one, also on a later page of this tab,
// cannot apply it twice.
const UNANSWERED = "blog-unanswered:";

/** The app's answer to a request that it refused, or status 0 if there was none. */
export class Refusal extends Error {
  constructor(status, message, problem = {}) {
    super(message);
    this.status = status;
    this.title = problem.title;
    this.location = problem.location;
    this.retryAfterS = problem.retryAfterS ?? 1;
    this.faults = problem.errors ?? [];
  }
}

/**
 * Send a request, with the session. Throws Refusal.
 * @param {string} url
 * @param {RequestInit} options
 * @param {"json" | "text"} type of the body
 * @returns {Promise<{status: number, etag: string | null, body: any}>}
 */
export async function send(url, options = {}, type = "json") {
  const brought = sessionToken();
  const headers = { ...options.headers, ...(brought && { [HEADER]: brought }) };
  try {
    const response = await fetch(url, { ...options, headers });
    keepSession(response, brought);
    if (!response.ok) throw await refusal(response);
    // Read here, because the connection can also break before the end of the body.
    const body = response.status === 204 ? null : await response[type]();
    return { status: response.status, etag: response.headers.get("ETag"), body };
  } catch (error) {
    if (error instanceof Refusal || error.name === "AbortError") throw error;
    const reason = navigator.onLine ? "The blog cannot be reached." : "You are offline.";
    throw new Refusal(0, `${reason} Try again when you are connected.`);
  }
}

/**
 * Send a command. Sent again after an unclear outcome, it has the same idempotency key. Throws Refusal.
 * @param {string} method
 * @param {string} path below `/api`, encoded
 * @param {object} [body]
 * @param {{etag?: string, isRepeatable?: boolean}} [options] repeatable commands need no key
 */
export async function command(method, path, body, { etag, isRepeatable = method !== "POST" } = {}) {
  const unanswered = `${UNANSWERED}${method} ${path} ${JSON.stringify(body)}`;
  const headers = { "Content-Type": "application/json" };
  if (etag) headers["If-Match"] = etag;
  if (!isRepeatable) {
    const key = tabStorage.get(unanswered) ?? newKey();
    tabStorage.set(unanswered, key);
    headers["Idempotency-Key"] = key;
  }
  try {
    const answer = await send(`/api${path}`, { method, headers, body: body && JSON.stringify(body) });
    tabStorage.remove(unanswered);
    return answer;
  } catch (error) {
    if (error.status >= 400 && error.status < 500 && error.status !== 429) tabStorage.remove(unanswered);
    throw error;
  }
}

/**
 * Delete something. It is missing if this was answered before, but the answer was lost. Throws Refusal.
 * @param {string} path below `/api`, encoded
 * @param {{etag?: string}} [options]
 */
export async function remove(path, options) {
  try {
    await command("DELETE", path, undefined, options);
  } catch (error) {
    if (error.status !== 404) throw error;
  }
}

/** Render Markdown. Returns nodes that the server has sanitized. */
export function preview(content, signal) {
  return rendered("/preview", content, signal);
}

/** Render a comment. Returns nodes in which addresses are links. */
export function previewComment(content) {
  return rendered("/preview/comment", content);
}

async function rendered(path, content, signal) {
  const headers = { "Content-Type": "application/json" };
  const page = await load(path, { method: "POST", headers, body: JSON.stringify({ content }), signal });
  return [...page.body.childNodes];
}

/** Load a page of the site. */
export async function load(url, options) {
  const { body } = await send(url, options, "text");
  return new DOMParser().parseFromString(body, "text/html");
}

async function refusal(response) {
  const { status } = response;
  const problem = await response.json().catch(() => ({}));
  problem.location = response.headers.get("Location");
  problem.retryAfterS = Number(response.headers.get("Retry-After")) || 1;
  const isReadOnly = status === 401 && document.documentElement.dataset.auth === "function-key";
  const faults = (problem.errors ?? []).map(fault => fault.detail).join(" ");
  const advice = isReadOnly ? READ_ONLY : OWN_LIMITS.includes(problem.title) ? problem.detail : ADVICE[status] ?? (faults || problem.detail) ?? ADVICE[500];
  return new Refusal(status, advice, problem);
}

/** 32 random hexadecimal digits. */
export function newKey() {
  // crypto.randomUUID exists in secure contexts only, which plain http to another machine is not.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, "0")).join("");
}
