// The tour: buttons that do what the article describes, and what that took.
import { command, send } from "./api.js";
import { article } from "./inspector-bars.js";
import { count, groupsOf, number, operationsOf, summaryOf } from "./inspector-causes.js";

const RENEW_MS = 8000;
const SWITCHES = { 5: "lag", 6: "throttle", 7: "faults" };

const tour = document.querySelector("[data-tour]");
const { postId, userId } = tour.dataset;
const measured = tour.querySelector("[data-measured]");
const wanted = SWITCHES[tour.dataset.tour];
let known = null;
let records = [];
let title = "";
let prepared = null;
let timer = 0;

/** Show what has happened since the button was pressed, of the requests with this title. */
function watch(of) {
  known = Math.max(0, ...records.map(one => one.number));
  title = of;
  measured.textContent = "…";
}

document.addEventListener("inspector-records", event => {
  records = event.detail;
  if (known === null) return;
  const groups = groupsOf(records.filter(one => one.number > known)).filter(one => one.requests[0].title.startsWith(title));
  if (groups.length) measured.textContent = groups.map(one => `${summaryOf(one)}${trouble(one)}`).join(" ");
});

function trouble(group) {
  const refused = operationsOf(group).filter(one => one.status === 429).reduce((total, one) => total + one.count, 0);
  const failed = group.deliveries.filter(({ record }) => !record.finished).length;
  return [
    refused ? ` ${count(Math.ceil(refused), "request")} got 429, waited and ran again.` : "",
    failed ? ` ${count(failed, "delivery")} failed and ran again.` : "",
  ].join("");
}

const post = async path => (await send(path, { method: "POST" })).json();
const get = async path => (await send(path)).json();

async function rename(id) {
  const { username } = await get(`/api/users/${id}`);
  const other = username.endsWith(".renamed") ? username.slice(0, -8) : `${username}.renamed`;
  watch("Rename");
  await command("PUT", `/users/${id}`, { username: other });
  return other;
}

async function like(times) {
  const posts = await Promise.all(Array.from({ length: times }, () => post("/tour/post")));
  watch("Like a post fifty");
  await Promise.all(posts.map(one => post(`/tour/likes/${one.postId}`)));
  return counted(posts);
}

const ACTIONS = {
  async read() {
    if (!postId) throw new Error("There is no post yet. Write one first.");
    watch("Retrieve a post");
    await get(`/api/posts/${postId}`);
  },
  async write() {
    const author = await post("/tour/post");
    watch("Create a post");
    await command("POST", "/posts", { userId: author.userId, title: "Written on the tour", content: "Watch the copies arrive." });
  },
  like: () => like(1),
  crowd: () => like(3),
  async prepare() {
    watch("Prepare an author");
    prepared = await post("/tour/comments");
  },
  async rename() {
    await rename(prepared?.userId ?? userId);
  },
  async ownWrite() {
    const edited = `Edited at ${new Date().toLocaleTimeString("en")}`;
    await command("PUT", `/posts/${prepared.postId}`, { title: edited, content: "Read me." });
    const read = await get(`/tour/reads/${prepared.postId}`);
    measured.textContent = `Without the token: “${read.without ?? "no such post yet"}”. With it: “${read.with}”.`;
  },
  async break() {
    prepared = await insist(() => post("/tour/comments"));
    const liked = await insist(() => post("/tour/post"));
    const name = await insist(() => rename(prepared.userId));
    await insist(() => post(`/tour/likes/${liked.postId}`));
    for (let stale = prepared.postIds; stale.length; ) {
      await new Promise(done => setTimeout(done, 3000));
      const names = await Promise.all(stale.map(id => get(`/api/posts/${id}/comments?limit=100`).catch(() => null)));
      stale = stale.filter((_, index) => !names[index]?.items.every(one => one.userUsername === name));
      tell(`${count(prepared.postIds.length - stale.length, "post")} of ${prepared.postIds.length} have the new name everywhere.`);
    }
    return `All 1,000 comments have the new name. ${await insist(() => counted([liked]))}`;
  },
};

/** Repeat what failed: the SDK repeats a write only a few times, and all of these can be repeated. */
async function insist(run) {
  for (let attempt = 1; attempt < 10; attempt++) {
    try {
      return await run();
    } catch {
      tell(`Attempt ${attempt} failed.`);
    }
  }
  return run();
}

/** Compare the counts of posts with their likes. */
async function counted(posts) {
  const texts = await Promise.all(posts.map(async ({ postId: id }) => {
    const [{ likeCount }, { items }] = await Promise.all([get(`/api/posts/${id}`), get(`/api/posts/${id}/likes?limit=100`)]);
    return `${items.length} likes, counted as ${likeCount}.`;
  }));
  return texts.join(" ");
}

function tell(text = "") {
  tour.querySelector("[data-checked]").textContent = text;
}

for (const button of tour.querySelectorAll("[data-run]")) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    tell();
    try {
      tell(await ACTIONS[button.dataset.run]() ?? "");
    } catch (error) {
      measured.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });
}

// The emulator's switch of this step is on while the page is shown. The server sets it back if it is not renewed.
async function renew() {
  const response = await send(`/tour/switches/${wanted}`, { method: "PUT" }).catch(() => null);
  const { isOn } = (await response?.json()) ?? {};
  if (!isOn) {
    measured.textContent = "This step needs this repository's emulator, which `make run` starts. Skip it.";
    for (const button of tour.querySelectorAll("[data-run]")) button.disabled = true;
    return;
  }
  timer = setTimeout(renew, RENEW_MS);
  if (measured.textContent.startsWith("Checking")) measured.textContent = "Press the button.";
  // Old enough for the replicas when the button is pressed.
  if (wanted === "lag") prepared ??= await post("/tour/post");
}

if (wanted) {
  renew();
  addEventListener("pagehide", () => {
    clearTimeout(timer);
    fetch("/tour/switches/", { method: "PUT", keepalive: true });
  });
  addEventListener("pageshow", event => event.persisted && renew());
}

async function bill(form) {
  const { models, requests, load } = await article();
  const perDay = Object.fromEntries(new FormData(form));
  const rates = { C2: perDay.posts, C3: perDay.comments, C4: perDay.likes };
  for (const [name, share] of Object.entries(load.mix)) rates[name] = perDay.reads * share;
  const body = tour.querySelector("[data-bill]");
  body.replaceChildren();
  models.forEach((model, index) => {
    const perSecond = Object.entries(rates).reduce((total, [name, rate]) => total + rate * requests[name].measured[index], 0) / 86400;
    const row = body.insertRow();
    const figures = [perSecond, perSecond * load.ruHour * load.hours].map(one => number(Math.round(one)));
    for (const text of [model === "this" ? "This blog" : model, ...figures]) row.insertCell().textContent = text;
  });
}

const form = tour.querySelector("[data-load]");
if (form) {
  form.addEventListener("input", () => bill(form));
  bill(form);
}
article().then(figures => {
  for (const element of tour.querySelectorAll("[data-figure]")) {
    element.textContent = element.dataset.figure.split(".").reduce((value, name) => value[name], figures);
  }
});
