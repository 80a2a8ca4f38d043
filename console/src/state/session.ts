/** Who is logged in. The token lives in this tab only: sessionStorage is emptied when the tab is closed. */
import { signal } from "@preact/signals";

const KEY = "podless.token";
const CERTIFICATE = "podless.certificate";

export const token = signal<string>(sessionStorage.getItem(KEY) ?? "");
export const byCertificate = signal<boolean>(sessionStorage.getItem(CERTIFICATE) === "yes");
export const notice = signal<string>("");
/** Whether the user logged out in this page: a provider then has to ask who logs in. */
export const left = signal<boolean>(false);

export function logIn(given: string): void {
  sessionStorage.setItem(KEY, given);
  token.value = given;
  notice.value = "";
}

export function continueWithCertificate(): void {
  sessionStorage.setItem(CERTIFICATE, "yes");
  byCertificate.value = true;
  notice.value = "";
}

export function logOut(why = ""): void {
  sessionStorage.removeItem(KEY);
  sessionStorage.removeItem(CERTIFICATE);
  token.value = "";
  byCertificate.value = false;
  notice.value = why;
}

/** Log out on the user's own wish. */
export function leave(): void {
  left.value = true;
  logOut();
}
