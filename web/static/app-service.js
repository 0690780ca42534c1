// Sign-in by App Service authentication, whose cookie the browser sends with every request.
import { send } from "./api.js";
import { userIdOf } from "./user-id.js";

// The claims that the platform takes the principal's ID from. Only the user that exists can be the caller's.
const SUBJECTS = [
  "http://schemas.microsoft.com/identity/claims/objectidentifier",
  "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/nameidentifier",
];
// Marks the return from signing in, when people without a user choose a username.
const REGISTER = "#sign-up";
let isSignedIn = false;
let register;

export async function start(become, openDialog) {
  register = openDialog;
  const response = await fetch("/.auth/me");
  const [principal] = response.ok ? await response.json() : [];
  isSignedIn = principal !== undefined;
  if (!isSignedIn) return become(null);
  const claims = principal.user_claims.filter(claim => SUBJECTS.includes(claim.typ)).map(claim => claim.val);
  for (const subject of new Set([...claims, principal.user_id])) {
    const id = await userIdOf(`app-service:${principal.provider_name}`, subject);
    try {
      return become(await (await send(`/api/users/${id}`)).json());
    } catch (error) {
      if (error.status !== 404) throw error;
    }
  }
  become(null);
  if (location.hash === REGISTER) await register();
}

export async function signIn() {
  if (isSignedIn) return register();
  go("/.auth/login/aad", "post_login_redirect_uri", location.pathname + location.search + REGISTER);
}

export async function signOut() {
  go("/.auth/logout", "post_logout_redirect_uri", "/");
}

function go(path, parameter, target) {
  location.assign(`${path}?${new URLSearchParams({ [parameter]: target })}`);
}
