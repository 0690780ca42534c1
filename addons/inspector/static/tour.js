// The tour: buttons that do what the article describes, and what that took.
import { newKey, send } from "./api.js";
import { article, row } from "./inspector-bars.js";
import { chargesOf, count, groupsOf, merged, number, perUnit, summaryOf } from "./inspector-causes.js";

const RENEW_MS = 3000;
const CHECK_MS = 3000;
const SWITCHES = { ownWrite: "lag", crowd: "throttle", break: "faults" };
const COMMENTS = 1000;
const JSON_TYPE = { "Content-Type": "application/json" };
const NO_EMULATOR = "This step needs the emulator that `make run` starts. Go on to the next one.";

const tour = document.querySelector("[data-tour]");
const { postId } = tour.dataset;
const [measured, verdict] = ["measured", "verdict"].map(name => tour.querySelector(`[data-${name}]`));
const buttons = [...tour.querySelectorAll("[data-run]")];
// The server deletes what a visit has written when the page is left. It changes nothing that no visit has written.
const visit = newKey();
// The traces of the requests that are measured.
const traces = new Set();
let hasReaders = false, prepared = null, post = null, written = null;

document.addEventListener("inspector-records", ({ detail: records }) => {
  const groups = merged(groupsOf(records.filter(one => one.kind === "delivery" || traces.has(one.trace))));
  if (groups.length) report(groups.reverse().map(lineOf).join("\n"));
});

/** One line per action, with the total of its requests. */
function lineOf(group) {
  if (group.request.title.includes("thousand comments")) {
    const all = written ? count(written, "comment") : "No new comments";
    return `${group.request.status < 400 ? all : "Not all comments"}: ${chargesOf(group)}.`;
  }
  return `${summaryOf(group)} ${perUnit(group)}`.trim();
}

function report(text) {
  if (text === measured.textContent) return;
  measured.textContent = text;
  measured.scrollIntoView({ block: "nearest" });
}

/** Send a request. Without the cookie of the inspector, it is not shown there. */
async function request(method, path, options = { credentials: "omit" }) {
  const body = method === "GET" ? null : JSON.stringify({ visit });
  return (await send(path, { ...options, method, headers: { ...JSON_TYPE, ...options.headers }, body })).body;
}

/** Send a request that is measured, in a trace of its own. */
function measure(method, path) {
  const trace = newKey();
  traces.add(trace);
  return request(method, path, { headers: { traceparent: `00-${trace}-${newKey().slice(16)}-01` } });
}

async function write(run = request) {
  if (!hasReaders) await request("POST", "/tour/readers");
  hasReaders = true;
  return run("POST", "/tour/posts");
}

async function prepare(run) {
  const answer = await run("POST", "/tour/comments");
  written = answer.written;
  prepared = answer.postIds;
}

async function like(times) {
  const posts = [];
  while (posts.length < times) posts.push(await write());
  return switchedOn(async () => {
    await Promise.all(posts.map(({ id }) => measure("POST", `/tour/likes/${id}`)));
    return counted(posts);
  });
}

const ACTIONS = {
  async read() {
    if (!postId) throw new Error("There is no post yet. Write one first.");
    await measure("GET", `/api/posts/${postId}`);
    return "One point read.";
  },
  async write() {
    await write(measure);
    return "The post is written. The change feed copies it.";
  },
  like: () => like(1),
  crowd: () => like(3),
  async prepare() {
    await prepare(measure);
    return written ? "The posts have 1,000 comments. Rename their author." : "The 1,000 comments are still there. Rename their author.";
  },
  async rename() {
    const { username } = await measure("PUT", "/tour/name");
    return renamed(username);
  },
  async ownWrite() {
    post ??= await write();
    return switchedOn(async () => {
      // The inspector shows both. What counts here is what was read.
      await request("PUT", `/tour/posts/${post.id}`, {});
      const read = await request("GET", `/tour/reads/${post.id}`, {});
      return `Without the token: “${read.without ?? "no such post yet"}”. With it: “${read.with}”.`;
    });
  },
  async break() {
    verdict.textContent = "First, 1,000 comments are written.";
    await prepare(request);
    const liked = await write();
    return switchedOn(async () => {
      verdict.textContent = "The rename and the likes are sent.";
      const { username } = await insist(() => measure("PUT", "/tour/name"));
      await insist(() => measure("POST", `/tour/likes/${liked.id}`));
      return `${await renamed(username)} ${await insist(() => counted([liked]))}`;
    });
  },
};

/** Wait until the change feed has renamed all comments. */
async function renamed(username) {
  for (let done = 0; done < COMMENTS; ) {
    verdict.textContent = `${number(done)} of ${count(COMMENTS, "comment")} have the new name.`;
    await new Promise(resolve => setTimeout(resolve, CHECK_MS));
    const found = await Promise.all(prepared.map(id => request("GET", `/api/posts/${id}/comments?limit=100`).catch(() => null)));
    done = found.flatMap(page => page?.items ?? []).filter(one => one.userUsername === username).length;
  }
  return "All 1,000 comments have the new name.";
}

/** Repeat what failed: the SDK repeats a write only a few times, and all of these can be repeated. */
async function insist(run, attempts = 10) {
  return run().catch(error => {
    if (attempts === 1) throw error;
    return insist(run, attempts - 1);
  });
}

/** Compare the counts of posts with their likes. */
async function counted(posts) {
  const found = await Promise.all(posts.map(async ({ id }) => {
    const [{ likeCount }, { items }] = await Promise.all(["", "/likes?limit=100"].map(part => request("GET", `/api/posts/${id}${part}`)));
    return `${items.length} likes, counted as ${likeCount}.`;
  }));
  const same = found.every(one => one === found[0]);
  return same ? `${posts.length > 1 ? "Each post: " : ""}${found[0]}` : found.join(" ");
}

/** Run the action with the emulator's switch of the step, if it has one. The server turns it off if it is not renewed. */
async function switchedOn(act) {
  const name = SWITCHES[buttons[0].dataset.run];
  if (!name) return act();
  const renew = () => request("PUT", `/tour/switches/${name}`);
  const { isOn } = await renew();
  if (!isOn) throw new Error(NO_EMULATOR);
  const timer = setInterval(() => renew().catch(() => {}), RENEW_MS);
  try {
    return await act();
  } finally {
    clearInterval(timer);
    await request("PUT", "/tour/switches/");
  }
}

/** A rename without comments would show nothing. */
const canRun = button => button.dataset.run !== "rename" || prepared !== null;

for (const button of buttons) {
  button.addEventListener("click", async () => {
    for (const one of buttons) one.disabled = true;
    traces.clear();
    report("…");
    document.dispatchEvent(new Event("tour-action"));
    verdict.textContent = "";
    try {
      verdict.textContent = await ACTIONS[button.dataset.run]();
    } catch (error) {
      // The posts of a visit that was idle for long are deleted.
      if (error.status === 404) prepared = post = null;
      verdict.textContent = error.message;
    } finally {
      if (!traces.size) report("");
      for (const one of buttons) one.disabled = !canRun(one);
      // The button lost the focus while it was disabled.
      if (document.activeElement === document.body) button.focus({ preventScroll: true });
    }
  });
}

// A page from the browser's cache would belong to a visit that has ended.
addEventListener("pageshow", event => event.persisted && location.reload());
addEventListener("pagehide", () => {
  const body = JSON.stringify({ visit });
  fetch("/tour/end", { method: "POST", headers: JSON_TYPE, body, keepalive: true, credentials: "omit" });
});

async function bill(form) {
  const { models, requests, feeds, load } = await article();
  const perDay = Object.fromEntries(new FormData(form));
  const rates = { C2: perDay.posts, C3: perDay.comments, C4: perDay.likes };
  for (const [name, share] of Object.entries(load.mix)) rates[name] = perDay.reads * share;
  const isValid = form.reportValidity();
  const body = tour.querySelector("[data-bill]");
  body.replaceChildren();
  models.forEach((model, index) => {
    const perSecond = Object.entries(rates).reduce((total, [name, rate]) => total + rate * (requests[name].measured[index] + (feeds[name]?.[model] ?? 0)), 0) / 86400;
    const figures = [perSecond, perSecond * load.ruHour * load.hours].map(one => (isValid ? number(Math.round(one)) : "–"));
    body.append(row("td", model === "this" ? "This blog" : model, ...figures));
  });
}

const form = tour.querySelector("[data-load]");
form?.addEventListener("input", () => bill(form));
if (form) bill(form);
