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

class Rejected extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

async function ask<T>(path: string, body?: unknown): Promise<T> {
  const answer = await fetch(
    path,
    body === undefined
      ? {}
      : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) },
  );
  const told = (await answer.json().catch(() => ({}))) as T & { message?: string };
  if (!answer.ok) throw new Rejected(answer.status, told.message ?? `The server answers ${answer.status}.`);
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

/** The claims of a token, without a look at its signature; none for another text. */
export function readClaims(token: string): Record<string, unknown> {
  try {
    const text = atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

interface Granted {
  token: string;
  /** The token that gives the next one, undefined if the provider gives none. */
  refresh?: string;
}

/** Turn a return into tokens and the fragment that the user left from. Throws an error with a text for the user. */
export async function redeemReturn(given: URLSearchParams): Promise<Granted & { hash: string }> {
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
  const body = { code: given.get("code"), verifier: sent.verifier };
  const granted = await ask<Granted>("/console/oidc/token", body);
  if (readClaims(granted.token)["nonce"] !== sent.nonce)
    throw new Error("The provider answered with the token of another login. Log in again.");
  return { ...granted, hash: sent.hash };
}

const ATTEMPTS = 4; // while the provider or the server does not answer
const PAUSE = 2000; // milliseconds between them

/** Get a new token for a refresh token; null if the provider gives none. */
export async function renewToken(refresh: string): Promise<{ token: string; refresh: string } | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      const granted = await ask<Granted>("/console/oidc/renew", { refresh });
      return { token: granted.token, refresh: granted.refresh ?? refresh };
    } catch (error) {
      const final = error instanceof Rejected && error.code < 500 && error.code !== 429;
      if (final || attempt === ATTEMPTS) return null;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}

/** Ask the provider to end a refresh token. The request goes on when the page is left. */
export function revokeToken(refresh: string): void {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ refresh });
  fetch("/console/oidc/revoke", { method: "POST", headers, body, keepalive: true }).catch(() => undefined);
}
