// The address says what the page shows, so that reloading, bookmarks and the Back button work.
//
//   #/                                  the overview
//   #/simulation                        faults, latency, throttling
//   #/dbs/{database}/colls/{container}/{view}

/** @returns {{page: string, database?: string, container?: string, view?: string}} */
export function route() {
  const [kind, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  if (kind === "dbs") return {page: "container", database: rest[0], container: rest[2], view: rest[3]};
  return {page: kind === "simulation" ? kind : "overview"};
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by hand
  }
}

export function linkTo({page, database, container, view}) {
  if (page) return page === "overview" ? "#/" : `#/${page}`;
  return `#/dbs/${encodeURIComponent(database)}/colls/${encodeURIComponent(container)}${view ? `/${view}` : ""}`;
}

export const go = (target) => { location.hash = linkTo(target); };

/** Change the view in the address without a new entry in the history. */
export const note = (target) => history.replaceState(null, "", linkTo(target));
