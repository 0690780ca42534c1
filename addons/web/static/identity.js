// The user of this browser, the dialog to choose or create one, and the controls that only an owner sees.
import { command, load, send } from "./api.js";
import { alarm, announce, refuse } from "./messages.js";
import { sharedStorage, tabStorage } from "./storage.js";

const KEY = "blog-user";
const KNOWN = "blog-users";
// The last user that a tab has found deleted: the other tabs must not offer them either.
const FORGOTTEN = "blog-forgotten";
const KNOWN_COUNT = 4;
const OFFERED_COUNT = 8;
// The longest wait for the list of users in the dialog.
const OFFER_MS = 1_000;
// Set while someone signs in, who then chooses a username if they have no user.
const SIGNING_IN = "blog-signing-in";
const isReturn = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
const usersSignIn = document.documentElement.dataset.auth !== "function-key";
const corner = document.querySelector("[data-identity]");
const dialog = document.querySelector("[data-identity-dialog]");
// The ID of the user whose session loaded this page, or "". History shows a page as it was, so the stored user is newer.
let caller = isReturn ? currentUser()?.id ?? "" : document.documentElement.dataset.caller;
// The IDs of users who no longer exist. The page can still show what they wrote.
const forgotten = new Set();
// Resolves when the signed-in user is known.
let ready = Promise.resolve();
// Whether the scripts of the buttons that only an owner sees are loaded.
let areLoaded = false;

/** @typedef {{id: string, username: string}} User */

/** @returns {User | null} */
export function currentUser() {
  return stored(KEY);
}

/** The current user; asks who they are if that is unknown. @returns {Promise<User | null>} null if they do not say */
export async function requireUser() {
  await ready;
  if (!currentUser()) await ask();
  return currentUser();
}

/** Make `user` the user of this browser. Null signs out. @param {User | null} user */
export function become(user) {
  const known = knownUsers().filter(other => other.id !== user?.id);
  sharedStorage.set(KNOWN, JSON.stringify(user ? [user, ...known].slice(0, KNOWN_COUNT) : known));
  if (user) sharedStorage.set(KEY, JSON.stringify({ id: user.id, username: user.username }));
  else sharedStorage.remove(KEY);
  showIdentity();
}

/** Tell the user that a command failed. */
export function refused(error, form) {
  const told = explained(error);
  if (form) refuse(form, told);
  else alarm(told);
}

/** Return the error to show. Signs the user out if their session has ended or their account is deleted. */
export function explained(error) {
  if (usersSignIn && error.status === 401) {
    caller = "";
    become(null);
  }
  const user = currentUser();
  if (error.title !== "User not found" || !user) return error;
  forget(user.id);
  return new Error(`The user ${user.username} no longer exists. Sign in as someone else, then try again.`);
}

/** Sign out a user who no longer exists, and offer them no more. */
export function forget(userId) {
  become(null);
  forgotten.add(userId);
  sharedStorage.set(FORGOTTEN, userId);
  sharedStorage.set(KNOWN, JSON.stringify(knownUsers().filter(other => other.id !== userId)));
}

/** Whether an element is part of what the user has written, or of their profile. */
export function isOwn(element) {
  const id = currentUser()?.id;
  return id !== undefined && element?.closest("[data-user-id]")?.dataset.userId === id;
}

/** Show what the page offers the user. Also called when the page has new elements. Extensions listen to the event. */
export function showOwned() {
  if (!areLoaded) return;
  const isOwnPost = isOwn(document.querySelector("article.post"));
  for (const element of document.querySelectorAll("[data-owner-only]")) element.hidden = !isOwn(element);
  for (const button of document.querySelectorAll("[data-delete-comment]")) button.hidden = !(isOwnPost || isOwn(button));
  document.dispatchEvent(new Event("blog:owned"));
}

/** @param {Promise<unknown>} loading the scripts of the page's buttons */
export function startIdentity(loading) {
  showIdentity();
  loading.then(() => {
    areLoaded = true;
    showOwned();
  });
  addEventListener("storage", event => event.key === KEY && follow());
  addEventListener("storage", event => event.key === FORGOTTEN && forgotten.add(event.newValue));
  addEventListener("pageshow", event => event.persisted && follow());
  corner.addEventListener("click", event => {
    if (event.target.closest("[data-sign-in]")) ask();
    if (event.target.closest("[data-switch-user]")) ask();
    if (event.target.closest("[data-sign-out]")) signOut();
  });
  dialog.querySelector("[data-sign-up]").addEventListener("submit", signUp);
  dialog.querySelector("[data-use-id]")?.addEventListener("submit", useId);
  dialog.querySelector("[data-sign-out]")?.addEventListener("click", signOut);
  dialog.addEventListener("click", event => {
    const chosen = event.target.closest("[data-user-id]");
    if (chosen) choose({ id: chosen.dataset.userId, username: chosen.textContent.trim() });
  });
  document.querySelector("form[data-rename]")?.addEventListener("submit", rename);
  document.querySelector("[data-open-rename]")?.addEventListener("click", () => openRename(true));
  document.querySelector("form[data-rename] [data-cancel]")?.addEventListener("click", cancelRename);
  document.querySelector("form[data-rename]")?.addEventListener("keydown", event => event.key === "Escape" && cancelRename());
  document.addEventListener("visibilitychange", () => document.hidden || refreshName());
  if (usersSignIn) ready = startSession().catch(alarm);
  else refreshName();
}

/** Show the current name of a user who was renamed elsewhere (Q1). The stored one is good enough if that fails. */
async function refreshName() {
  const user = currentUser();
  if (!user) return;
  const found = await send(`/api/users/${encodeURIComponent(user.id)}`).then(({ body }) => body, () => user);
  if (found.username !== user.username && currentUser()?.id === user.id) become(found);
}

/** Show the user of the session that loaded this page. */
async function startSession() {
  const isSigningIn = tabStorage.get(SIGNING_IN);
  tabStorage.remove(SIGNING_IN);
  if (currentUser() && currentUser().id !== caller) become(null);
  if (!caller) return;
  // In history, the cache would answer as it did before the user existed.
  const user = await send(`/api/users/${caller}`, { cache: "no-cache" }).then(({ body }) => body, error => {
    if (error.status !== 404) throw error;
    return null;
  });
  if (user?.username !== currentUser()?.username) become(user);
  if (!user && isSigningIn) await openDialog();
}

/** Show the user that another tab, or a later page of this one, has stored. */
function follow() {
  if (!currentUser()) caller = "";
  showIdentity();
}

function showIdentity() {
  const user = currentUser();
  const hadFocus = corner.contains(document.activeElement);
  for (const shown of corner.querySelectorAll("[data-account], [data-menu]")) shown.remove();
  const button = corner.querySelector("[data-sign-in]");
  button.hidden = user !== null;
  if (user) {
    const content = document.querySelector("template[data-signed-in]").content.cloneNode(true);
    fill(content, user);
    content.querySelector("[data-profile]").href = `/users/${encodeURIComponent(user.id)}`;
    corner.append(content);
  }
  if (hadFocus) (user ? corner.querySelector("[data-account]") : button).focus();
  showOwned();
  openRename(false);
  document.dispatchEvent(new Event("blog:identity"));
}

/** Ask who the user is. Resolves when they have answered or closed the dialog. */
async function ask() {
  if (usersSignIn && caller) return openDialog();
  if (usersSignIn) {
    tabStorage.set(SIGNING_IN, "1");
    return go("login/aad", "post_login_redirect_uri");
  }
  // Before the dialog opens, so that nothing moves in it.
  await Promise.race([offerUsers().catch(alarm), new Promise(resolve => setTimeout(resolve, OFFER_MS))]);
  return openDialog();
}

function openDialog() {
  for (const failure of dialog.querySelectorAll("[data-error]")) failure.textContent = "";
  if (!dialog.open) dialog.showModal();
  return new Promise(resolve => dialog.addEventListener("close", resolve, { once: true }));
}

function signOut() {
  dialog.close();
  become(null);
  if (usersSignIn) go("logout", "post_logout_redirect_uri");
  else announce("You are signed out.");
  focusCorner("[data-sign-in]");
}

/** Let App Service authentication do this, and return to this page. */
function go(action, parameter) {
  location.assign(`/.auth/${action}?${new URLSearchParams({ [parameter]: location.pathname + location.search })}`);
}

function choose(user) {
  dialog.close();
  become(user);
  announce(`You are ${user.username}.`);
  focusCorner("[data-account]");
}

/** Give the corner the focus that was in a dialog that has just been closed, or in the menu that opened it. */
function focusCorner(selector) {
  const focused = document.activeElement;
  if (focused === document.body || dialog.contains(focused)) corner.querySelector(selector).focus();
}

async function offerUsers() {
  const list = dialog.querySelector("[data-known-users]");
  list.replaceChildren();
  offer(list, knownUsers());
  offer(list, authorsOn(document));
  if (list.childElementCount < OFFERED_COUNT) offer(list, authorsOn(await load("/")));
}

function authorsOn(page) {
  return [...page.querySelectorAll("a[data-author]")].map(link => ({
    id: decodeURIComponent(link.pathname.split("/").pop()),
    username: link.querySelector("[data-username]").textContent,
  }));
}

function offer(list, users) {
  const template = dialog.querySelector("template[data-known-user]");
  const offered = new Set([...list.querySelectorAll("[data-user-id]")].map(button => button.dataset.userId));
  for (const user of users) {
    if (!user.id || offered.has(user.id) || forgotten.has(user.id) || offered.size === OFFERED_COUNT) continue;
    offered.add(user.id);
    const item = template.content.cloneNode(true);
    item.querySelector("[data-user-id]").dataset.userId = user.id;
    fill(item, user);
    list.append(item);
  }
  dialog.querySelector("[data-known]").hidden = offered.size === 0;
}

async function signUp(event) {
  event.preventDefault();
  const form = event.target;
  await submitting(form, async () => {
    try {
      const { body } = await command("POST", "/users", { username: form.elements.username.value.trim() });
      form.reset();
      choose(body);
    } catch (error) {
      if (error.status === 401) caller = "";
      if (!error.location) throw error;
      choose((await send(error.location)).body);
    }
  });
}

async function useId(event) {
  event.preventDefault();
  const form = event.target;
  await submitting(form, async () => {
    const id = form.elements.userId.value.trim();
    try {
      choose((await send(`/api/users/${encodeURIComponent(id)}`)).body);
      form.reset();
    } catch (error) {
      if (error.status === 404) error.message = "No user has this ID. Check it, or sign up with a username.";
      throw error;
    }
  });
}

async function submitting(form, act) {
  const button = form.querySelector("button");
  const failure = form.querySelector("[data-error]");
  failure.textContent = "";
  button.disabled = true;
  try {
    await act();
  } catch (error) {
    failure.textContent = error.message;
    form.elements[0].focus();
    failure.scrollIntoView({ block: "nearest" });
  } finally {
    button.disabled = false;
  }
}

function openRename(isOpen) {
  const form = document.querySelector("form[data-rename]");
  if (!form) return;
  form.hidden = !isOpen;
  document.querySelector("[data-open-rename]").ariaExpanded = String(isOpen);
  if (isOpen) form.elements.username.select();
}

function cancelRename() {
  const form = document.querySelector("form[data-rename]");
  form.elements.username.setCustomValidity("");
  form.elements.username.value = document.querySelector(".profile h1").textContent;
  openRename(false);
  document.querySelector("[data-open-rename]").focus();
}

async function rename(event) {
  event.preventDefault();
  const form = event.target;
  const profile = form.closest("[data-user-id]");
  const username = form.elements.username.value.trim();
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const path = `/users/${encodeURIComponent(profile.dataset.userId)}`;
    const { body, etag } = await sendName(path, username, profile.dataset.etag);
    button.disabled = false;
    profile.dataset.etag = etag ?? "";
    document.querySelector(".profile h1").textContent = body.username;
    document.title = document.title.replace(/^.* –/, () => `${body.username} –`);
    become(body);
    document.querySelector("[data-open-rename]").focus();
    announce(`You are now ${body.username}. Your posts, comments and likes show this name within seconds.`);
  } catch (error) {
    if (error.status === 409) error.faults = [{ pointer: "/username", detail: error.message }];
    button.disabled = false;
    refused(error, form);
    // Someone who is signed out has no form.
    if (form.hidden) corner.querySelector("[data-sign-in]").focus();
  }
}

/** Rename a user. They have the name if this was answered before, but the answer was lost. */
async function sendName(path, username, known) {
  try {
    return await command("PUT", path, { username }, { etag: known });
  } catch (error) {
    if (error.status !== 412) throw error;
    const current = await send(`/api${path}`);
    if (current.body.username !== username) throw error;
    return current;
  }
}

function fill(content, user) {
  content.querySelector("[data-avatar]").src = avatarUrl(user.id);
  content.querySelector("[data-username]").textContent = user.username;
}

export function avatarUrl(userId) {
  return `/avatars/${encodeURIComponent(userId)}.svg`;
}

function knownUsers() {
  return stored(KNOWN) ?? [];
}

function stored(key) {
  try {
    return JSON.parse(sharedStorage.get(key));
  } catch {
    return null;
  }
}
