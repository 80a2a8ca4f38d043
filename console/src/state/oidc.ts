/** The login at an OpenID Connect provider: the authorization code flow with PKCE. The server redeems the code. */
import { signal } from "@preact/signals";

const KEY = "podless.oidc"; // what was sent along, until the provider sends the browser back

interface Sent {
  state: string;
  verifier: string;
  nonce: string;
  hash: string;
}

interface Begin {
  endpoint: string;
  client: string;
  scope: string;
}

/** What the provider sent back in the address, null if this is no return from one. */
export const returned = signal<URLSearchParams | null>(takeReturn());

/** Read the parameters of a return, and take them out of the address at once. */
function takeReturn(): URLSearchParams | null {
  const found = new URLSearchParams(location.search);
  if (!found.has("state") || !(found.has("code") || found.has("error"))) return null;
  history.replaceState(null, "", location.pathname + location.hash);
  return found;
}

function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

const draw = (): string => encode(crypto.getRandomValues(new Uint8Array(32)));

async function ask<T>(path: string, body?: unknown): Promise<T> {
  const answer = await fetch(
    path,
    body === undefined
      ? {}
      : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) },
  );
  const told = (await answer.json().catch(() => ({}))) as T & { message?: string };
  if (!answer.ok) throw new Error(told.message ?? `The server answers ${answer.status}.`);
  return told;
}

/** The provider's URL, "" without one. */
export async function findProvider(): Promise<string> {
  return (await ask<{ issuer: string }>("/console/oidc")).issuer;
}

/** Leave for the provider's login page. again: the provider must ask for the credentials even if it knows the user. */
export async function leaveForProvider(again: boolean): Promise<void> {
  const { endpoint, client, scope } = await ask<Begin>("/console/oidc/begin");
  const target = new URL(endpoint);
  if (target.protocol !== "https:") throw new Error(`The provider's login page is no https URL: ${endpoint}`);
  const sent: Sent = { state: draw(), verifier: draw(), nonce: draw(), hash: location.hash };
  const challenge = encode(
    new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(sent.verifier))),
  );
  const query = {
    response_type: "code",
    client_id: client,
    scope,
    redirect_uri: `${location.origin}/console/`,
    state: sent.state,
    nonce: sent.nonce,
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...(again ? { prompt: "login" } : {}),
  };
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  sessionStorage.setItem(KEY, JSON.stringify(sent));
  location.assign(target);
}

function readNonce(token: string): unknown {
  const text = atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
  return (JSON.parse(text) as { nonce?: unknown }).nonce;
}

/** Turn a return into a token and the fragment that the user left from. Throws an error with a text for the user. */
export async function redeemReturn(given: URLSearchParams): Promise<{ token: string; hash: string }> {
  const text = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  const sent = text === null ? null : (JSON.parse(text) as Sent);
  if (sent === null || given.get("state") !== sent.state)
    throw new Error("This login was not begun in this tab. Log in again.");
  const error = given.get("error");
  if (error !== null)
    throw new Error(
      `The provider rejects the login: ${[error, given.get("error_description") ?? ""].filter((one) => one !== "").join(": ")}`,
    );
  const { token } = await ask<{ token: string }>("/console/oidc/token", {
    code: given.get("code"),
    verifier: sent.verifier,
  });
  if (readNonce(token) !== sent.nonce)
    throw new Error("The provider answered with the token of another login. Log in again.");
  return { token, hash: sent.hash };
}
