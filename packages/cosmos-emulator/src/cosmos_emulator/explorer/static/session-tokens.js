// The page is one session, like an SDK's client: it always sees its own writes, also with a replica lag.

const sessions = new Map(); // by container: the latest token of each physical partition

/** Merge the session token of a response. */
export function remember(link, token) {
  if (!token) return;
  const seen = sessions.get(containerOf(link)) ?? new Map();
  for (const one of token.split(",")) {
    const range = one.split(":")[0];
    if (lsnOf(one) >= lsnOf(seen.get(range))) seen.set(range, one);
  }
  sessions.set(containerOf(link), seen);
}

/** The headers of a request in this session. */
export function sessionOf(link) {
  const seen = sessions.get(containerOf(link));
  if (!seen || !/\/(docs|sprocs)\//.test(link)) return {};
  return {"x-ms-session-token": [...seen.values()].join(",")};
}

export const lsnOf = (token = "#0") => Number(token.split("#").at(-1));
const containerOf = (link) => link.split("/").filter(Boolean).slice(0, 4).join("/");
