// What the article's models cost for the same request: bars on a log scale.
import { number } from "./inspector-causes.js";
import { element, shape } from "./inspector-elements.js";

const MOST_RU = 3000;
const GRID = [10, 100, 1000];
const position = charge => `${Math.max(1, (Math.log10(Math.max(1, charge)) / Math.log10(MOST_RU)) * 100).toFixed(1)}%`;
const line = (x, className) => shape("line", { class: className, x1: x, x2: x, y1: 0, y2: "100%" });
let figures = null;

/** The figures, which tests compare with docs/benchmarks/models.json. */
export const article = () => (figures ??= fetch(new URL("./article.json", import.meta.url)).then(response => response.json()));

/** The figures of a request, such as "Q2"; the figures of an edit are under "C1 edit" or "C2 edit". */
export const figuresOf = (requests, name, method) => requests[method === "PUT" ? `${name} edit` : name];

/** Return an element with the comparison of a request, or null. */
export async function barsOf(name, method, now) {
  const { measured, models, requests } = await article();
  const request = figuresOf(requests, name, method);
  if (!request) return null;
  const table = element("table", { className: "bars" });
  table.createCaption().textContent = `${name.slice(0, 2)} ${request.title}: ${request.why}`;
  table.createTHead().append(row("th", "Model", "RU, log scale", "RU", "Article"));
  const bars = models.map((model, index) => bar(model === "this" ? "This blog" : model, request.measured[index], request.article?.[index]));
  table.createTBody().append(...bars, ...(now === undefined ? [] : [bar("Just now", now)]));
  const sign = className => shape("svg", { class: "sign", "aria-hidden": true }, line("50%", className));
  const legend = element("p", { className: "hint" }, sign("article"), "What the article measured. ", sign("grid"), `${GRID.map(number).join(", ")} RU: the scale is logarithmic. Bars: this repository's emulator, ${measured}.`);
  return element("div", {}, table, legend);
}

/** A row of a table. The first cell of a body is a header, too. */
export const row = (tag, first, ...cells) =>
  element("tr", {}, element("th", { scope: tag === "th" ? "col" : "row" }, first), ...cells.map(one => element(tag, {}, one)));

function bar(label, charge, theirs) {
  const grid = GRID.map(ru => line(position(ru), "grid"));
  const drawn = shape("svg", { "aria-hidden": true }, ...grid, shape("rect", { width: position(charge), height: "100%", rx: 2 }), ...(theirs ? [line(position(theirs), "article")] : []));
  const made = row("td", label, drawn, number(charge), theirs ? number(theirs) : "–");
  made.classList.toggle("ours", !/^V\d/.test(label));
  return made;
}
