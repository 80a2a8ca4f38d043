/** The frame around every page: header, navigation, content. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { loadKinds, loadNamespaces } from "../api/discovery";
import { get, reachable } from "../api/http";
import { nextTheme, sidebarOpen, theme } from "../state/preferences";
import { leave, userName } from "../state/session";
import { Icon, Logo } from "./Icon";
import { Palette } from "./Palette";
import { Button } from "./parts";
import { Sidebar } from "./Sidebar";
import { Toasts } from "./toasts";

interface Review {
  status?: { userInfo?: { username?: string } };
}

const REFRESH = 10_000; // milliseconds between two looks at discovery

export function Shell({ children }: { children: ComponentChildren }) {
  const user = userName.value;
  const [palette, setPalette] = useState(false);
  useEffect(() => {
    const load = (): void => void Promise.allSettled([loadKinds(), loadNamespaces()]);
    load();
    const timer = setInterval(() => document.hidden || load(), REFRESH);
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    get<Review>("/apis/authentication.k8s.io/v1/selfsubjectreviews", {
      method: "POST",
      body: review,
      quiet: true,
    }).then(
      (found) => (userName.value = found.status?.userInfo?.username ?? ""),
      () => undefined,
    );
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setPalette(true);
      } else if (event.key === "Escape") sidebarOpen.value = false;
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const look = theme.value;
  return (
    <div class="shell">
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("content")?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <span class="menu-button">
          <Button icon="menu" kind="plain" label="Menu" onClick={() => (sidebarOpen.value = !sidebarOpen.value)} />
        </span>
        <a class="brand" href="#/" aria-label="podless, overview">
          <Logo />
          <span>podless</span>
        </a>
        <button type="button" class="go" onClick={() => setPalette(true)}>
          <Icon name="search" size={16} />
          <span>Go to a kind or object</span>
          <kbd>Ctrl K</kbd>
        </button>
        <span class="spacer" />
        {!reachable.value && (
          <span class="offline" role="alert">
            <Icon name="alert" size={16} /> Server not reachable
          </span>
        )}
        {user !== "" && (
          <span class="user" title="You are logged in as this user">
            <span class="avatar" aria-hidden="true">
              {user.slice(0, 1).toUpperCase()}
            </span>
            <span class="user-name">{user}</span>
          </span>
        )}
        <Button
          icon={look === "light" ? "sun" : look === "dark" ? "moon" : "system"}
          kind="plain"
          label={`Colours: ${look}`}
          onClick={nextTheme}
        />
        <Button icon="logout" kind="plain" label="Log out" onClick={leave} />
      </header>
      <Sidebar />
      {sidebarOpen.value && <div class="shade" onClick={() => (sidebarOpen.value = false)} />}
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <Toasts />
      {palette && <Palette onClose={() => setPalette(false)} />}
    </div>
  );
}
