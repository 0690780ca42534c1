// The diagram of the data model. The template draws it from the declared containers and change feeds.
import { count, operationsOf, ru } from "./inspector-causes.js";
import { shape } from "./inspector-elements.js";

const REPLAY_MS = 8000;
const LIT_MS = 900;

/** Start the diagram in the inspector. Returns `show(group, caption, isNew)`. */
export function startDiagram(drawer) {
  const [diagram, caption, replay, play, time, clock] = ["diagram", "caption", "replay", "play", "time", "clock"].map(name => drawer.querySelector(`[data-${name}]`));
  const isStill = matchMedia("(prefers-reduced-motion: reduce)");
  let [operations, end, frame, dimming] = [[], 0, 0, 0];

  /** Draw the state at a time: what has run until then, and lit what runs within the last moment. */
  function draw(now, litAfter = Infinity) {
    const seen = new Map();
    const lit = new Set();
    for (const one of operations) {
      if (one.at > now) continue;
      const share = one.until > one.at ? Math.min(1, (now - one.at) / (one.until - one.at)) : 1;
      const ends = one.container === one.source ? [] : [`${one.source} ${one.container}`];
      const sources = drawer.querySelectorAll(`[data-arrow$=" ${one.source}"]`);
      for (const name of [one.container, one.source, ...ends, ...[...sources].map(arrow => arrow.dataset.arrow)]) {
        const total = seen.get(name) ?? { count: 0, items: 0, charge: 0, physical: new Set() };
        total.count += one.count * share;
        total.items += one.items * share;
        total.charge += one.charge * share;
        if (name === one.container) one.physical.forEach(id => total.physical.add(id));
        seen.set(name, total);
        if (one.until >= litAfter) lit.add(name);
      }
    }
    for (const element of diagram.querySelectorAll("[data-node], [data-arrow]")) {
      const name = element.dataset.node ?? element.dataset.arrow;
      element.classList.toggle("seen", seen.has(name));
      element.classList.toggle("lit", lit.has(name));
      if (element.dataset.container) fill(element, seen.get(name));
    }
  }

  function fill(box, total) {
    box.querySelector("[data-ru]").textContent = total ? ru(total.charge) : "";
    box.querySelector("[data-count]").textContent = total
      ? `${count(Math.ceil(total.count), "op")} · ${count(Math.round(total.items), "item")}`
      : "";
    const dots = box.querySelector("[data-dots]");
    const { x, y } = dots.dataset;
    dots.replaceChildren(
      ...[...(total?.physical ?? [])].sort((a, b) => a - b).slice(0, 12).map((id, index) =>
        shape("circle", { cx: Number(x) + index * 9, cy: y, r: 3 }, shape("title", {}, `Physical partition ${id} answered`)),
      ),
    );
  }

  function drawAt(position) {
    const now = (end * position) / 1000;
    draw(now, now - end / 12);
    time.value = position;
    clock.textContent = `${(now / 1000).toFixed(2)} s`;
  }

  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
    play.textContent = "Replay slowly";
  }

  function run() {
    const begin = performance.now();
    play.textContent = "Stop";
    const step = now => {
      const position = Math.min(1000, ((now - begin) / REPLAY_MS) * 1000);
      drawAt(position);
      if (position < 1000) return (frame = requestAnimationFrame(step));
      stop();
      draw(Infinity);
    };
    frame = requestAnimationFrame(step);
  }

  play.addEventListener("click", () => (frame ? (stop(), draw(Infinity)) : run()));
  time.addEventListener("input", () => {
    stop();
    drawAt(Number(time.value));
  });

  return {
    show(group, text, isNew) {
      stop();
      clearTimeout(dimming);
      operations = group ? operationsOf(group) : [];
      end = Math.max(0, ...operations.map(one => one.until));
      caption.textContent = text;
      replay.hidden = !operations.length;
      time.value = 1000;
      clock.textContent = `${(end / 1000).toFixed(2)} s`;
      if (!isNew || isStill.matches) return draw(Infinity);
      draw(Infinity, end - Math.max(LIT_MS, end / 3));
      dimming = setTimeout(() => draw(Infinity), LIT_MS);
    },
  };
}
