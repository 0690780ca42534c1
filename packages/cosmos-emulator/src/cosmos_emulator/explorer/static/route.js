// The address says what the page shows, so that reloading, bookmarks and the Back button work.
//
//   #/                                  the overview
//   #/simulation                        faults, latency, throttling
//   #/dbs/{database}/colls/{container}/{view}
//   #/dbs/{database}/colls/{container}/items/{id}/{partition key values as JSON}

/** @returns {{page: string, database?: string, container?: string, view?: string, item?: {id: string, key: any[]}}} */
export function route() {
  const [kind, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  if (kind === "dbs") return {page: "container", database: rest[0], container: rest[2], view: rest[3], item: itemIn(rest.slice(4))};
  return {page: kind === "simulation" ? kind : "overview"};
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by hand
  }
}

function itemIn([id, key]) {
  try {
    return id ? {id, key: JSON.parse(key)} : undefined;
  } catch {
    return undefined; // typed by hand
  }
}

export function linkTo({page, database, container, view, item}) {
  if (page) return page === "overview" ? "#/" : `#/${page}`;
  const parts = ["dbs", database, "colls", container, ...(view ? [view] : []), ...(item ? [item.id, JSON.stringify(item.key)] : [])];
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

export const go = (target) => { location.hash = linkTo(target); };

/** Put the open item into the address, or remove it. */
export function noteItem(item) {
  const {page, ...place} = route();
  note({...place, item});
}

/** Change the view in the address without a new entry in the history. */
export const note = (target) => history.replaceState(null, "", linkTo(target));
