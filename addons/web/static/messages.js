// Messages to the user. Screen readers announce both lines.
import { tabStorage } from "./storage.js";

const SHOWN_MS = 6_000;
const FLASH = "blog-flash";
const [status, alert] = ["status", "alert"].map(id => document.getElementById(id));
let timer = 0;

/** Say what happened, for some seconds. @param {string} text @param {Element} [subject] must stay visible */
export function announce(text, subject) {
  show("", text);
  place(status, subject);
  clearTimeout(timer);
  timer = setTimeout(() => show("", ""), SHOWN_MS);
}

/** Say what failed and what to do, until the next message. @param {Error | string} error @param {Element} [subject] */
export function alarm(error, subject) {
  clearTimeout(timer);
  show(error.message ?? error, "");
  place(alert, subject);
}

/** Announce on the page that is opened next. */
export function announceLater(text) {
  tabStorage.set(FLASH, text);
}

/** Tell the user that a form was refused: at the first field at fault, or else below the page. */
export function refuse(form, error) {
  const fault = error.faults?.find(({ pointer }) => form.elements[pointer.slice(1)]);
  const field = fault && form.elements[fault.pointer.slice(1)];
  if (!field) {
    // The button lost the focus while it was disabled.
    if (document.activeElement === document.body) [...form.elements].find(({ type }) => type === "submit").focus();
    return alarm(error, form.querySelector(".actions"));
  }
  field.setCustomValidity(fault.detail);
  field.addEventListener("input", () => field.setCustomValidity(""), { once: true });
  field.reportValidity();
}

function show(failure, news) {
  alert.textContent = failure;
  status.textContent = news;
}

/** Show a message below, or above if it would cover its subject or what has the focus. */
function place(message, subject) {
  message.classList.remove("top");
  const own = message.getBoundingClientRect();
  const isCovered = element => {
    const { top, bottom, left, right, height } = element.getBoundingClientRect();
    // An element higher than half the window is visible on either side.
    return height < innerHeight / 2 && top < own.bottom && bottom > own.top && left < own.right && right > own.left;
  };
  message.classList.toggle("top", [subject, document.activeElement].some(one => one && isCovered(one)));
}

alert.addEventListener("click", () => show("", ""));
const flash = tabStorage.get(FLASH);
if (flash) {
  tabStorage.remove(FLASH);
  announce(flash);
}
