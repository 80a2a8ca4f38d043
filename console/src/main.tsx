import { type ComponentType, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { HomePage } from "./pages/HomePage";
import { ListPage } from "./pages/ListPage";
import { Login } from "./pages/Login";
import { route } from "./state/route";
import { byCertificate, expired, token } from "./state/session";
import "./state/preferences";
import { Loading, Problem } from "./ui/parts";
import { Shell } from "./ui/Shell";
import "./styles/tokens.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/pages.css";

const LATER: Record<string, () => Promise<ComponentType>> = {
  object: async () => (await import("./object/ObjectPage")).ObjectPage,
  new: async () => (await import("./object/NewPage")).NewPage,
  definitions: async () => (await import("./pages/DefinitionsPage")).DefinitionsPage,
  history: async () => (await import("./pages/HistoryPage")).HistoryPage,
  access: async () => (await import("./pages/AccessPage")).AccessPage,
  server: async () => (await import("./pages/ServerPage")).ServerPage,
};

/** A page whose code is loaded when it is first shown. */
function Later({ page }: { page: string }) {
  const [found, setFound] = useState<{ page: string; view: ComponentType } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    setError(null);
    LATER[page]?.().then(
      (view) => setFound({ page, view }),
      (problem: unknown) => setError(problem as Error),
    );
  }, [page]);
  if (error !== null) return <Problem error={error} title="A part of the console could not be loaded" />;
  if (found === null || found.page !== page) return <Loading />;
  const View = found.view;
  return <View />;
}

function Page() {
  const page = route.value.page;
  if (page === "list") return <ListPage />;
  return page in LATER ? <Later page={page} /> : <HomePage />;
}

function App() {
  const known = token.value !== "" || byCertificate.value || expired.value;
  if (!known || route.value.page === "link") return <Login />;
  return (
    <>
      <Shell>
        <Page />
      </Shell>
      {expired.value && <Login again />}
    </>
  );
}

render(<App />, document.getElementById("root") as HTMLElement);
