// Sign-in at an OpenID Connect issuer: authorization code flow with PKCE. Tokens exist only in the memory of a page, so
// a page with commands gets its own from the issuer's session, without a question to the user.
import { Refusal, authorizeWith, send } from "./api.js";
import { currentUser } from "./identity.js";
import { userIdOf } from "./user-id.js";

const FLOW = "blog-oidc";
const RENEWAL_MS = 30_000;
const { issuer, clientId, audience } = document.documentElement.dataset;
const client = { client_id: clientId };
// The only redirect URI to register at the issuer.
const redirectUri = `${location.origin}/`;
let tokens = null;
let expires = 0;
// One renewal for all requests that need it, because many issuers accept a refresh token only once.
let renewal = null;
let register;

export async function start(become, openDialog) {
  register = openDialog;
  authorizeWith(headers);
  const flow = JSON.parse(sessionStorage.getItem(FLOW));
  const answer = new URLSearchParams(location.search);
  if (flow?.state && location.pathname === "/" && answer.get("state") === flow.state) {
    // The page where the user was redeems the code.
    sessionStorage.setItem(FLOW, JSON.stringify({ ...flow, answer: location.search }));
    location.replace(flow.path);
    return new Promise(() => {});
  }
  sessionStorage.removeItem(FLOW);
  if (flow?.answer) return redeem(flow, become);
  const user = currentUser();
  const isOwnPage = document.querySelector(".profile")?.dataset.userId === user?.id;
  if (user && (isOwnPage || document.querySelector("article.post, [data-editor]"))) await authorize({ prompt: "none" });
}

export async function signIn() {
  if (tokens) return register();
  await authorize({});
}

export async function signOut() {
  const { end_session_endpoint: end } = await discover();
  const hint = tokens?.id_token && { id_token_hint: tokens.id_token };
  tokens = null;
  if (!end) return;
  const query = { client_id: clientId, post_logout_redirect_uri: redirectUri, ...hint };
  location.assign(withQuery(end, query));
}

async function authorize(options) {
  if (!clientId) throw new Refusal(0, "Nobody can sign in here: set BLOG_OIDC_CLIENT_ID; see docs/settings.md.");
  const oauth = await library();
  const { authorization_endpoint: endpoint } = await discover();
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const path = location.pathname + location.search;
  sessionStorage.setItem(FLOW, JSON.stringify({ verifier, state, path, isSilent: options.prompt === "none" }));
  // Microsoft Entra ID names the API in the scope, other issuers in `audience`.
  const isEntra = audience.startsWith("api://");
  const query = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: `openid offline_access${isEntra ? ` ${audience}/.default` : ""}`,
    ...(!isEntra && { audience }),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...options,
  };
  location[options.prompt ? "replace" : "assign"](withQuery(endpoint, query));
  // Nothing may happen on this page any more.
  return new Promise(() => {});
}

async function redeem(flow, become) {
  const oauth = await library();
  const server = await discover();
  try {
    const answer = oauth.validateAuthResponse(server, client, new URLSearchParams(flow.answer), flow.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server, client, oauth.None(), answer, redirectUri, flow.verifier, insecure(oauth),
    );
    keep(await oauth.processAuthorizationCodeResponse(server, client, response));
  } catch (error) {
    become(null);
    // The issuer's session has ended. The user can sign in again.
    if (flow.isSilent) return;
    throw new Refusal(0, `The sign-in failed (${error.error ?? error.message}). Try again.`);
  }
  const id = await userIdOf(issuer, subjectOf(tokens.access_token));
  try {
    become(await (await send(`/api/users/${id}`)).json());
  } catch (error) {
    if (error.status !== 404) throw error;
    become(null);
    await register();
  }
}

async function headers() {
  if (tokens && Date.now() > expires - RENEWAL_MS && tokens.refresh_token) {
    renewal ??= renew().finally(() => { renewal = null; });
    await renewal;
  }
  return tokens ? { Authorization: `Bearer ${tokens.access_token}` } : {};
}

async function renew() {
  const oauth = await library();
  const server = await discover();
  const { refresh_token: token } = tokens;
  try {
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), token, insecure(oauth));
    keep({ refresh_token: token, ...(await oauth.processRefreshTokenResponse(server, client, response)) });
  } catch (error) {
    // A TypeError means that the issuer could not be reached: the tokens may still be valid. Otherwise it refused, so
    // the command gets 401, and its user the advice to sign in.
    if (!(error instanceof TypeError)) tokens = null;
  }
}

function keep(granted) {
  tokens = granted;
  expires = Date.now() + 1000 * (granted.expires_in ?? 300);
}

let discovered;
function discover() {
  discovered ??= library().then(async oauth => {
    const url = new URL(issuer);
    return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, insecure(oauth)));
  });
  return discovered;
}

function library() {
  return import("./oauth4webapi.js");
}

function insecure(oauth) {
  // The server accepts an http issuer on loopback only.
  return { [oauth.allowInsecureRequests]: issuer.startsWith("http:") };
}

function subjectOf(token) {
  const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
  return JSON.parse(atob(payload)).sub;
}

function withQuery(endpoint, query) {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}
