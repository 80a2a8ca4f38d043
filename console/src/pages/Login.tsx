/** The login: an OpenID Connect provider, a token, the client certificate of the browser, or a one-time link. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { findProvider, leaveForProvider, redeemReturn, returned } from "../state/oidc";
import { continueWithCertificate, left, logIn, notice, userName } from "../state/session";
import { replaceRoute, route } from "../state/route";
import { Logo } from "../ui/Icon";
import { Button, Loading } from "../ui/parts";

interface Who {
  status?: { userInfo?: { username?: string } };
}

/** Ask the server who a token is of. Throws an error with a text for the user. */
async function check(given: string): Promise<string> {
  const headers: Record<string, string> = { "Content-Type": "application/json", Accept: "application/json" };
  if (given !== "") headers["Authorization"] = `Bearer ${given}`;
  const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  const answer = await fetch("/apis/authentication.k8s.io/v1/selfsubjectreviews", { method: "POST", headers, body });
  if (answer.status === 401)
    throw new Error(
      given === "" ? "The server does not accept the certificate." : "The server does not accept this token.",
    );
  const user = answer.ok ? (((await answer.json()) as Who).status?.userInfo?.username ?? "") : "";
  if (user === "system:anonymous" || answer.status === 403)
    throw new Error(given === "" ? "The browser sent no client certificate." : "The server does not know this token.");
  return user;
}

/** again: the login of a user whose page stays below it. */
export function Login({ again = false }: { again?: boolean }) {
  const [given, setGiven] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const [provider, setProvider] = useState("");
  const code = route.value.page === "link" ? (route.value.parts[0] ?? "") : "";

  useEffect(() => {
    if (code === "") return;
    const anew = userName.value !== ""; // nothing of another user's session may stay
    replaceRoute("#/"); // the code is used up, and must not stay in the address
    setBusy(true);
    fetch("/console/link", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code }),
    })
      .then(async (answer) => {
        if (!answer.ok) throw new Error("This link was used before or has expired. Log in with a token.");
        const { token } = (await answer.json()) as { token: string };
        logIn(await check(token), token);
        if (anew) location.reload();
      })
      .catch((error: unknown) => setProblem((error as Error).message))
      .finally(() => setBusy(false));
  }, [code]);

  useEffect(() => {
    findProvider().then(setProvider, () => undefined);
    const given = returned.value;
    if (given === null) return;
    returned.value = null;
    void attempt(async () => {
      const { token, refresh, hash } = await redeemReturn(given);
      const user = await check(token);
      replaceRoute(hash === "" ? "#/" : hash);
      logIn(user, token, refresh);
    });
  }, []);

  const attempt = async (what: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem("");
    try {
      await what();
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  const why = problem || notice.value;
  const form = (
    <form
      class="login-card"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(async () => {
          logIn(await check(given.trim()), given.trim());
        });
      }}
    >
      <Logo size={52} />
      <h1>podless console</h1>
      <p class="dim">Log in with the credentials that you use for kubectl. They stay in this tab.</p>
      {why !== "" && (
        <p class="login-problem" role="alert">
          {why}
        </p>
      )}
      {provider !== "" && (
        <>
          <Button kind="primary" disabled={busy} onClick={() => void attempt(() => leaveForProvider(left))}>
            Log in with {new URL(provider).host}
          </Button>
          <p class="or">or</p>
        </>
      )}
      <label class="stacked">
        <span>Bearer token</span>
        <input
          type="password"
          autoComplete="off"
          autoFocus
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
      </label>
      <Button submit kind={provider === "" ? "primary" : undefined} disabled={busy || given.trim() === ""}>
        Log in
      </Button>
      <p class="or">or</p>
      <Button
        disabled={busy}
        onClick={() => {
          void attempt(async () => continueWithCertificate(await check("")));
        }}
      >
        Continue with a client certificate
      </Button>
      {busy && <Loading what="Asking the server" />}
    </form>
  );
  return again ? <Over>{form}</Over> : <main class="login">{form}</main>;
}

/** A dialog over the page that only a login closes. */
function Over({ children }: { children: ComponentChildren }) {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => place.current?.showModal(), []);
  return (
    <dialog
      ref={place}
      class="dialog login-again"
      aria-label="Log in again"
      onCancel={(event) => event.preventDefault()}
    >
      {children}
    </dialog>
  );
}
