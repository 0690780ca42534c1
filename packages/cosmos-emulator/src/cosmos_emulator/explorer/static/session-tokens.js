// The page is one session, like an SDK's client: it always sees its own writes, also with a replica lag.

const sessions = new Map(); // by container: the LSN seen of each physical partition

/** Merge the session token of a response. */
export function remember(link, token) {
  if (!token) return;
  const seen = sessions.get(containerOf(link)) ?? new Map();
  for (const one of token.split(",")) {
    const [range, lsn] = one.split(":-1#");
    seen.set(range, Math.max(Number(lsn), seen.get(range) ?? 0));
  }
  sessions.set(containerOf(link), seen);
}

/** The headers of a request in this session. */
export function sessionOf(link) {
  const seen = sessions.get(containerOf(link));
  if (!seen || !/\/(docs|sprocs)\//.test(link)) return {};
  return {"x-ms-session-token": [...seen].map(([range, lsn]) => `${range}:-1#${lsn}`).join(",")};
}

const containerOf = (link) => link.split("/").filter(Boolean).slice(0, 4).join("/");
