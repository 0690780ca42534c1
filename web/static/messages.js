// What the page tells its user. Screen readers announce both lines.
const SHOWN_MS = 6_000;
const FLASH = "blog-flash";
const [status, alert] = ["status", "alert"].map(id => document.getElementById(id));
let timer = 0;

/** Say what happened, for some seconds. */
export function announce(text) {
  show("", text);
  clearTimeout(timer);
  timer = setTimeout(() => show("", ""), SHOWN_MS);
}

/** Say what failed and what to do, until the next message. */
export function alarm(error) {
  clearTimeout(timer);
  show(error.message ?? error, "");
}

/** Announce on the page that is opened next. */
export function announceLater(text) {
  sessionStorage.setItem(FLASH, text);
}

/** Tell the user that a form was refused: at the first field at fault, or else below the page. */
export function refuse(form, error) {
  const fault = error.faults?.find(({ pointer }) => form.elements[pointer.slice(1)]);
  const field = fault && form.elements[fault.pointer.slice(1)];
  if (!field) return alarm(error);
  field.setCustomValidity(fault.detail);
  field.addEventListener("input", () => field.setCustomValidity(""), { once: true });
  field.reportValidity();
}

function show(failure, news) {
  alert.textContent = failure;
  status.textContent = news;
}

alert.addEventListener("click", () => show("", ""));
const flash = sessionStorage.getItem(FLASH);
if (flash) {
  sessionStorage.removeItem(FLASH);
  announce(flash);
}
