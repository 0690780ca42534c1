// The session token, with which every request sees the user's own changes. A cookie holds it, because a navigation sends
// no header, and because the tabs of a browser share the user.
export const HEADER = "x-ms-session-token";
const NAME = "blog-session";
const MAX_AGE_S = 600;
// The server accepts 4,000 characters.
const LENGTH = 3_000;

/** The token to send, or "". */
export function sessionToken() {
  const found = document.cookie.split("; ").find(pair => pair.startsWith(`${NAME}=`));
  return found ? found.slice(NAME.length + 1) : "";
}

/**
 * Keep the token of a response to a request that sent the token `brought`.
 * @param {Response} response
 * @param {string} brought
 */
export function keepSession(response, brought) {
  const token = response.headers.get(HEADER);
  if (token) {
    // Another request has finished since: a token can be several, joined by commas.
    const other = sessionToken();
    const both = `${other},${token}`;
    const kept = other && other !== brought && other !== token && both.length <= LENGTH ? both : token;
    write(kept, MAX_AGE_S);
  } else if (brought && brought === sessionToken() && (response.status === 400 || response.status === 503)) {
    // If the database was created again, it never reaches the token.
    write("", 0);
  }
}

function write(token, maxAge) {
  document.cookie = `${NAME}=${token}; Path=/; Max-Age=${maxAge}; SameSite=Lax`;
}
