// `Date` with the emulator's clock instead of the system's.

const NativeDate = globalThis.Date;
const dateText = uncurried(NativeDate.prototype.toString);

function setClock({ startMs, isFrozen }) {
  const started = now();
  const current = isFrozen ? () => startMs : () => startMs + now() - started;

  function ClockDate(...parts) {
    if (new.target === undefined) return dateText(construct(NativeDate, [current()]));
    return construct(NativeDate, parts.length === 0 ? [current()] : parts, new.target);
  }
  defineProperty(ClockDate, "name", { __proto__: null, value: "Date" });
  defineProperty(ClockDate, "length", { __proto__: null, value: NativeDate.length });
  ClockDate.prototype = NativeDate.prototype;
  hide(NativeDate.prototype, "constructor", ClockDate);
  hide(ClockDate, "now", () => current());
  hide(ClockDate, "parse", NativeDate.parse);
  hide(ClockDate, "UTC", NativeDate.UTC);
  hide(globalThis, "Date", ClockDate);
}
