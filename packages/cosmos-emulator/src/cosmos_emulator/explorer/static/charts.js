// Charts as SVG. Their colors are classes, because the page's policy forbids inline styles.

import {element, svg} from "./dom.js";

const WIDTH = 960;
const HEIGHT = 180;
const COLORS = 8;
const colorOf = (index) => `series-${index % COLORS}`;

/** Stacked columns, one for each second. `series` has a list of values for each partition. */
export function columns({label, series, limit, limitLabel}) {
  const length = series[0].length;
  const sums = series[0].map((_, at) => series.reduce((sum, values) => sum + values[at], 0));
  const highest = Math.max(...sums, 1);
  // A limit far above the values would flatten them.
  const top = roundUp(limit && limit < highest * 4 ? Math.max(highest, limit * 1.1) : highest);
  const width = WIDTH / length;
  const y = (value) => HEIGHT - (value / top) * HEIGHT;
  const bases = sums.map(() => 0);
  const shapes = series.flatMap((values, index) =>
    values.flatMap((value, at) => {
      if (!value) return [];
      const base = bases[at];
      bases[at] += value;
      return [svg("rect", {class: colorOf(index), x: at * width + 0.5, width: width - 1, y: y(base + value), height: (value / top) * HEIGHT})];
    }),
  );
  const lines = [0.5, 1].map((share) => [share * top, y(share * top)]);
  const grid = lines.flatMap(([, at]) => [svg("line", {class: "axis", x1: 0, x2: WIDTH, y1: at, y2: at})]);
  const isShown = limit && limit <= top;
  if (isShown) shapes.push(svg("line", {class: "limit", x1: 0, x2: WIDTH, y1: y(limit), y2: y(limit)}));
  const drawing = svg(
    "svg",
    {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label},
    ...grid,
    ...shapes,
    svg("line", {class: "axis", x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT}),
  );
  const scale = element("div", {className: "scale", "aria-hidden": "true"}, ...[top, top / 2, 0].map((value) => element("span", {}, format(value))));
  const times = element("div", {className: "times", "aria-hidden": "true"}, ...["2 min ago", "1 min ago", "now"].map((text) => element("span", {}, text)));
  const under = limitLabel ? [element("p", {className: "quiet"}, isShown ? `Dashed line, ${limitLabel}` : `Not in the chart, ${limitLabel}`)] : [];
  return element("figure", {className: "chart"}, scale, drawing, times, ...under);
}

/** Horizontal bars with their text. */
export function bars(entries) {
  const highest = Math.max(...entries.map(({value}) => value), 1e-9);
  return element(
    "ul",
    {className: "bars"},
    ...entries.map(({name, value, text}, index) =>
      element(
        "li",
        {},
        element("span", {className: "name"}, name),
        svg(
          "svg",
          {viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true"},
          svg("rect", {class: colorOf(index), x: 0, y: 0, height: 10, width: (value / highest) * 100}),
        ),
        element("span", {className: "number"}, text),
      ),
    ),
  );
}

export const legend = (ids) =>
  element("ul", {className: "legend"}, ...ids.map((id, index) => element("li", {className: colorOf(index)}, `Partition ${id}`)));

function roundUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * unit).find((one) => one >= value);
}

const format = (value) => value.toLocaleString("en", {maximumFractionDigits: 1});
