// The tour: buttons that do what the article describes, and what that took.
import { newKey, send } from "./api.js";
import { article, row } from "./inspector-bars.js";
import { count, groupsOf, number, perUnit, summaryOf } from "./inspector-causes.js";

const RENEW_MS = 8000;
const SWITCHES = { 5: "lag", 6: "throttle", 7: "faults" };
const JSON_TYPE = { "Content-Type": "application/json" };

const tour = document.querySelector("[data-tour]");
const { postId, userId } = tour.dataset;
const [measured, checked] = ["measured", "checked"].map(name => tour.querySelector(`[data-${name}]`));
const buttons = [...tour.querySelectorAll("[data-run]")];
const wanted = SWITCHES[tour.dataset.tour];
// The traces of the requests that are measured.
const traces = new Set();
let author = null, prepared = null, timer = 0;

document.addEventListener("inspector-records", ({ detail: records }) => {
  const groups = groupsOf(records.filter(one => one.kind === "delivery" || traces.has(one.trace)));
  if (groups.length) report(groups.map(group => `${summaryOf(group)} ${perUnit(group)}`.trim()).join("\n"));
});

function report(text) {
  if (text === measured.textContent) return;
  measured.textContent = text;
  measured.scrollIntoView({ block: "nearest" });
}

/** Send a request. Without the cookie of the inspector, it is not shown there. */
async function request(method, path, body, options = { credentials: "omit" }) {
  const headers = { ...JSON_TYPE, ...options.headers };
  return (await send(path, { ...options, method, headers, body: method === "GET" ? null : JSON.stringify(body ?? {}) })).json();
}

/** Send a request that is measured, in a trace of its own. */
function measure(method, path, body) {
  const trace = newKey();
  traces.add(trace);
  return request(method, path, body, { headers: { traceparent: `00-${trace}-${newKey().slice(16)}-01` } });
}

/** Write a post, as long as the article's. Without an idempotency key, this costs no record of it. */
async function write(run = request) {
  author ??= (await request("POST", "/tour/readers")).userId;
  return run("POST", "/api/posts", { userId: author, title: "Written on the tour", content: "Watch the copies arrive. ".repeat(59) });
}

async function rename(id) {
  const { username } = await request("GET", `/api/users/${id}`);
  const other = username.endsWith(".renamed") ? username.slice(0, -8) : `${username}.renamed`;
  await measure("PUT", `/api/users/${id}`, { username: other });
  return other;
}

async function like(times) {
  const posts = [];
  while (posts.length < times) posts.push(await write());
  await Promise.all(posts.map(({ id }) => measure("POST", `/tour/likes/${id}`)));
  return counted(posts);
}

const ACTIONS = {
  async read() {
    if (!postId) throw new Error("There is no post yet. Write one first.");
    await measure("GET", `/api/posts/${postId}`);
  },
  async write() {
    await write(measure);
  },
  like: () => like(1),
  crowd: () => like(3),
  async prepare() {
    prepared = await measure("POST", "/tour/comments");
  },
  async rename() {
    await rename(prepared?.userId ?? userId);
  },
  async ownWrite() {
    const edited = `Edited at ${new Date().toLocaleTimeString("en")}`;
    // The inspector shows both. What counts here is what was read.
    await request("PUT", `/api/posts/${prepared.id}`, { title: edited, content: "Read me." }, {});
    const read = await request("GET", `/tour/reads/${prepared.id}`, undefined, {});
    report(`Without the token: “${read.without ?? "no such post yet"}”. With it: “${read.with}”.`);
  },
  async break() {
    // All faults again, also if the page has been open for long.
    await request("PUT", "/tour/switches/");
    await renew();
    prepared = await insist(() => request("POST", "/tour/comments"));
    const liked = await insist(write);
    const name = await insist(() => rename(prepared.userId));
    await insist(() => measure("POST", `/tour/likes/${liked.id}`));
    for (let stale = prepared.postIds; stale.length; ) {
      await new Promise(done => setTimeout(done, 3000));
      const names = await Promise.all(stale.map(id => request("GET", `/api/posts/${id}/comments?limit=100`).catch(() => null)));
      stale = stale.filter((_, index) => !names[index]?.items.every(one => one.userUsername === name));
      checked.textContent = `${count(prepared.postIds.length - stale.length, "post")} of ${prepared.postIds.length} have the new name everywhere.`;
    }
    return `All 1,000 comments have the new name.\n${await insist(() => counted([liked]))}`;
  },
};

/** Repeat what failed: the SDK repeats a write only a few times, and all of these can be repeated. */
async function insist(run, attempts = 10) {
  return run().catch(error => {
    if (attempts === 1) throw error;
    checked.textContent = "A request failed and will be sent again.";
    return insist(run, attempts - 1);
  });
}

/** Compare the counts of posts with their likes. */
async function counted(posts) {
  const texts = await Promise.all(posts.map(async ({ id }) => {
    const [{ likeCount }, { items }] = await Promise.all(["", "/likes?limit=100"].map(part => request("GET", `/api/posts/${id}${part}`)));
    return `${items.length} likes, counted as ${likeCount}.`;
  }));
  return texts.join("\n");
}

for (const button of buttons) {
  button.addEventListener("click", async () => {
    // Also the other one: without the 1,000 comments, `Rename` takes another author.
    for (const one of buttons) one.disabled = true;
    traces.clear();
    report("…");
    checked.textContent = "";
    try {
      checked.textContent = await ACTIONS[button.dataset.run]() ?? "";
    } catch (error) {
      report(error.message);
    } finally {
      for (const one of buttons) one.disabled = false;
    }
  });
}

// The emulator's switch of this step is on while the page is shown. The server sets it back if it is not renewed.
async function renew() {
  clearTimeout(timer);
  const { isOn } = await request("PUT", `/tour/switches/${wanted}`).catch(() => ({}));
  if (!isOn) {
    measured.textContent = "This step needs this repository's emulator, which `make run` starts. Skip it.";
    for (const button of buttons) button.disabled = true;
    return;
  }
  timer = setTimeout(renew, RENEW_MS);
  if (measured.textContent.startsWith("Checking")) measured.textContent = "Press the button.";
  // Old enough for the replicas when the button is pressed.
  if (wanted === "lag") prepared ??= await write();
}

if (wanted) renew();
addEventListener("pageshow", event => event.persisted && wanted && renew());
addEventListener("pagehide", () => {
  const leave = (method, path) => fetch(path, { method, headers: JSON_TYPE, body: "{}", keepalive: true, credentials: "omit" });
  if (wanted) leave("PUT", "/tour/switches/");
  // This deletes older posts. During a measurement, the change feeds would deliver the deletions with what is measured.
  if (author) leave("POST", "/tour/readers");
});

async function bill(form) {
  const { models, requests, load } = await article();
  const perDay = Object.fromEntries(new FormData(form));
  const rates = { C2: perDay.posts, C3: perDay.comments, C4: perDay.likes };
  for (const [name, share] of Object.entries(load.mix)) rates[name] = perDay.reads * share;
  const body = tour.querySelector("[data-bill]");
  body.replaceChildren();
  models.forEach((model, index) => {
    const perSecond = Object.entries(rates).reduce((total, [name, rate]) => total + rate * requests[name].measured[index], 0) / 86400;
    const figures = [perSecond, perSecond * load.ruHour * load.hours].map(one => number(Math.round(one)));
    body.append(row("td", model === "this" ? "This blog" : model, ...figures));
  });
}

const form = tour.querySelector("[data-load]");
form?.addEventListener("input", () => bill(form));
if (form) bill(form);
article().then(figures => {
  for (const element of tour.querySelectorAll("[data-figure]")) {
    element.textContent = element.dataset.figure.split(".").reduce((value, name) => value[name], figures);
  }
});
