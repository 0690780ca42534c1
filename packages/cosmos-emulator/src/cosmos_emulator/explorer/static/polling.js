// Work that repeats while a view is shown.

const EVERY_MS = 1000;

export const pause = () => new Promise((resolve) => setTimeout(resolve, EVERY_MS));

/** Repeat `work` every second, except in a hidden tab, until `signal` is aborted. */
export async function everySecond(work, signal) {
  while (!signal.aborted) {
    await pause();
    if (!signal.aborted && !document.hidden) await work();
  }
}
