/** Who is logged in. Tokens live in this tab only: sessionStorage is emptied when the tab is closed. */
import { signal } from "@preact/signals";
import { readClaims, renewToken, revokeToken } from "./oidc";

const TOKEN = "podless.token";
const REFRESH = "podless.refresh";
const CERTIFICATE = "podless.certificate";
const EXPIRED = "The server no longer accepts these credentials. Log in again to go on where you were.";

export const token = signal<string>(sessionStorage.getItem(TOKEN) ?? "");
export const byCertificate = signal<boolean>(sessionStorage.getItem(CERTIFICATE) === "yes");
/** Whether the server rejected the credentials of the page that is shown: its requests wait for another login. */
export const expired = signal<boolean>(false);
/** The name of the user whose page is shown, "" before the server told it. */
export const userName = signal<string>("");
export const notice = signal<string>("");
/** Whether the user logged out in this tab: a provider then has to ask who logs in. */
export const left = (history.state as { left?: boolean } | null)?.left === true;

const waiting: (() => void)[] = [];

function store(given: string, refresh: string): void {
  sessionStorage.setItem(TOKEN, given);
  if (refresh === "") sessionStorage.removeItem(REFRESH);
  else sessionStorage.setItem(REFRESH, refresh);
  token.value = given;
}

function goOn(user: string): void {
  notice.value = "";
  if (expired.value && user !== userName.value) location.reload(); // nothing of the other user may stay
  expired.value = false;
  for (const tell of waiting.splice(0)) tell();
}

export function logIn(user: string, given: string, refresh = ""): void {
  sessionStorage.removeItem(CERTIFICATE);
  byCertificate.value = false;
  store(given, refresh);
  goOn(user);
}

export function continueWithCertificate(user: string): void {
  forget();
  sessionStorage.setItem(CERTIFICATE, "yes");
  byCertificate.value = true;
  goOn(user);
}

/** Drop the credentials. */
function forget(): void {
  for (const key of [TOKEN, REFRESH, CERTIFICATE]) sessionStorage.removeItem(key);
  token.value = "";
  byCertificate.value = false;
}

/** Log out. The page is loaded anew, so that nothing that this user saw stays in memory. */
export function leave(): void {
  const refresh = sessionStorage.getItem(REFRESH);
  if (refresh !== null) revokeToken(refresh);
  forget();
  history.replaceState({ left: true }, "", location.hash);
  location.reload();
}

/** Wait while the page has no credentials. */
export function untilLoggedIn(): Promise<void> {
  return expired.value ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve();
}

let renewing: Promise<void> | null = null;

/**
 * Get other credentials in the place of a token that the server rejected: with the refresh token of the provider, or by a
 * login of the user over the page, whose texts stay.
 */
export function replaceToken(rejected: string): Promise<void> {
  if (token.value !== rejected || expired.value) return untilLoggedIn();
  renewing ??= renew().finally(() => (renewing = null));
  return renewing;
}

async function renew(): Promise<void> {
  const [old, refresh] = [token.value, sessionStorage.getItem(REFRESH)];
  const found = refresh === null ? null : await renewToken(refresh);
  const [before, after] = [readClaims(old), readClaims(found?.token ?? "")];
  if (found !== null && after["sub"] === before["sub"] && after["iss"] === before["iss"])
    return store(found.token, found.refresh);
  forget();
  notice.value = EXPIRED;
  expired.value = true;
  return untilLoggedIn();
}
