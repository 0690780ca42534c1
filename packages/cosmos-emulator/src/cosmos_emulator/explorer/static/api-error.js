// Errors of the emulator, and what a user can do about them.

/** A request failed with `status` 400 or above, or got no response (`status` 0). */
export class ApiError extends Error {
  constructor(status, subStatus, code, message, chargeRu = 0) {
    super(message);
    Object.assign(this, {status, subStatus, code, chargeRu});
  }

  /** The status as in the service's documentation: `404/1003 NotFound`. Empty without a response. */
  get title() {
    const subStatus = this.subStatus ? `/${this.subStatus}` : "";
    const code = this.code === String(this.status) ? "TooManyRequests" : this.code;
    return this.status ? `${this.status}${subStatus} ${code}` : "";
  }

  get advice() {
    if (/^Fault \d+ of the emulator/.test(this.message)) return "Remove the fault under Simulation to end this.";
    if (this.status === 400 && /ORDER BY|order.by/.test(this.message)) {
      return "Include the path in the indexing policy (several paths need a composite index), or allow it under Simulation.";
    }
    return ADVICE[`${this.status}/${this.subStatus}`] ?? ADVICE[this.status] ?? "";
  }
}

const ADVICE = {
  0: "Check that the emulator is running, then try again.",
  401: "Choose Key… at the top, and enter the key that the emulator was started with (--key).",
  403: "",
  "403/5300": "The emulator runs with --rbac, which limits this key to data operations. Choose Key… and enter the management key (--management-key), or switch RBAC off under Simulation.",
  404: "It was deleted in the meantime. Refresh to see what is left.",
  409: "An item or resource with this id exists. Choose another id, or open the existing one.",
  412: "It was changed after you read it. Reload it to see that change; your text is lost then. Or save anyway.",
  413: "Shorten it: items and requests are limited to 2 MB.",
  429: "Wait a second and try again, raise the throughput, or switch throttling off under Simulation.",
  449: "Another request changed the same item. Try again.",
  500: "The emulator's console shows the cause.",
};

/** Read the error of a response. */
export function errorOf(response, content) {
  const chargeRu = Number(response.headers.get("x-ms-request-charge") ?? 0);
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

/**
 * Extract the errors from `Message: {"Errors":["…"]}\r\nActivityId: …`, or those of a query, `{"errors":[{…}]}`; return any
 * other text unchanged.
 */
function readable(message) {
  const errors = /^Message: (\{.*\})\r?\n/s.exec(message);
  if (!errors) return message;
  try {
    const {Errors: texts, errors: ofQuery} = JSON.parse(errors[1]);
    return (texts ?? ofQuery.map(located)).join("\n");
  } catch {
    return message;
  }
}

function located({message, location}) {
  return message + (location ? ` (at character ${location.start + 1} of the query)` : "");
}
