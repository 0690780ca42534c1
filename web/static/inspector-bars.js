// What the article's models cost for the same request: bars on a log scale.
import { number } from "./inspector-causes.js";

const SVG = "http://www.w3.org/2000/svg";
const MOST_RU = 3000;
const LABELS = { this: "This blog" };
let figures = null;

/** The figures, which tests compare with docs/benchmarks/models.json. */
export function article() {
  return (figures ??= fetch(new URL("./article.json", import.meta.url)).then(response => response.json()));
}

/** Return an element with the comparison of a request, such as "Q2" or "C1 edit", or null. */
export async function barsOf(name, now) {
  const { measured, models, requests } = await article();
  const request = requests[name];
  if (!request) return null;
  const table = document.createElement("table");
  table.className = "bars";
  table.createCaption().textContent = `${name.slice(0, 2)} ${request.title}: ${request.why}`;
  table.createTHead().insertRow().append(...["Model", "RU, log scale", "RU", "Article"].map(text => cell("th", text)));
  const body = table.createTBody();
  const rows = models.map((model, index) => [LABELS[model] ?? model, request.measured[index], request.article?.[index]]);
  body.append(...rows.map(one => row(...one)));
  if (now !== undefined) body.append(row("Just now", now));
  const foot = document.createElement("p");
  foot.className = "hint";
  foot.textContent = `Measured on this repository's emulator on ${measured}. The line and the last column are the article's own figures.`;
  const figure = document.createElement("div");
  figure.append(table, foot);
  return figure;
}

function row(label, charge, theirs) {
  const element = document.createElement("tr");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  svg.append(shape("rect", { width: `${position(charge)}%`, height: "100%", rx: 2 }));
  const x = theirs && `${position(theirs)}%`;
  if (x) svg.append(shape("line", { x1: x, x2: x, y1: 0, y2: "100%" }));
  if (!/^V\d/.test(label)) element.className = "ours";
  const bar = cell("td", "");
  bar.append(svg);
  element.append(cell("th", label), bar, cell("td", number(charge)), cell("td", theirs ? number(theirs) : "–"));
  return element;
}

function position(charge) {
  return Math.max(1, (Math.log10(Math.max(1, charge)) / Math.log10(MOST_RU)) * 100).toFixed(1);
}

function shape(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function cell(tag, content) {
  const element = document.createElement(tag);
  if (tag === "th") element.scope = "col";
  element.textContent = content;
  return element;
}
