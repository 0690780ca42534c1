// Relative times; after a month, the day. addons/web/relative_time.py uses the same table.
const DAY_S = 24 * 3600;
const MONTH_S = 30 * DAY_S;
const UNITS = [["week", 7 * DAY_S], ["day", DAY_S], ["hour", 3600], ["minute", 60]];
const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const EXACT = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "medium", timeZone: "UTC" });

export function refreshTimes(parent = document) {
  for (const time of parent.querySelectorAll("time[datetime]:not([data-day])")) {
    if (!Number.isNaN(parse(time.dateTime))) time.textContent = relative(time.dateTime);
  }
}

/** @param {HTMLTimeElement} time @param {string} date ISO 8601 */
export function setTime(time, date) {
  time.dateTime = date;
  time.title = `${EXACT.format(parse(date)).replace(" at ", ", ")} UTC`;
  time.textContent = relative(date);
}

/** The milliseconds since 1970. Without an offset, a date is in UTC; Date.parse takes one with a time as local. */
function parse(date) {
  return Date.parse(/[T ][\d:.]+$/.test(date) ? `${date}Z` : date);
}

function relative(date) {
  const elapsed_s = (Date.now() - parse(date)) / 1000;
  if (elapsed_s >= MONTH_S) return DAY.format(parse(date));
  for (const [unit, seconds] of UNITS) {
    const count = Math.floor(elapsed_s / seconds);
    if (count > 0) return `${count} ${unit}${count > 1 ? "s" : ""} ago`;
  }
  return "just now";
}
