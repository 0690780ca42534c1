// The emulator's own endpoints, which the service does not have: settings, faults and load.

import {errorOf} from "./api-error.js";
import {respond} from "./api.js";
import {signed} from "./signature.js";

export const readSettings = () => send("GET", "settings");
export const changeSettings = (changes) => send("PATCH", "settings", {body: changes});
export const readFaults = async () => (await send("GET", "faults")).faults;
export const addFault = (rule) => send("POST", "faults", {body: rule});
export const removeFault = (id) => send("DELETE", "faults", {id: String(id)});
export const readLoad = (rid) => send("GET", "load", {query: `?container=${encodeURIComponent(rid)}`});

async function send(verb, name, {body, query = "", id = ""} = {}) {
  const response = await respond(`/_emulator/${name}${id && `/${id}`}${query}`, {
    method: verb,
    body: body && JSON.stringify(body),
    cache: "no-store",
    // Signed, for an emulator in a container or on another machine.
    headers: {"content-type": "application/json", ...(await signed(verb, id || "_emulator", `_emulator/${name}`))},
  });
  const content = await response.text();
  if (!response.ok) throw errorOf(response, content);
  return JSON.parse(content);
}
