/** The overview: what is served, and what happened last. */
import { apiVersionOf, isBuiltin, kinds } from "../api/discovery";
import { get } from "../api/http";
import { listHash, makeHash } from "../state/route";
import { KindSign } from "../ui/Icon";
import { Empty, useLoaded } from "../ui/parts";
import { RecentChanges } from "./RecentChanges";

interface Version {
  gitVersion: string;
}

export function HomePage() {
  const version = useLoaded((signal) => get<Version>("/version", { signal }), []);
  const custom = kinds.value.filter((kind) => !isBuiltin(kind.group) && kind.preferred && kind.verbs.includes("list"));
  const release = version.value?.gitVersion.split("+") ?? [];
  return (
    <section class="page">
      <header class="page-head">
        <div class="titles">
          <h1>Overview</h1>
          <p class="dim">
            {release.length > 0
              ? `Kubernetes API ${release[0] ?? ""} · ${release[1] ?? ""} · ${kinds.value.length} resources`
              : "…"}
          </p>
        </div>
      </header>
      <h2 class="section-title">Your kinds</h2>
      {custom.length === 0 ? (
        <Empty title="No custom resources yet">
          Apply a CustomResourceDefinition, or{" "}
          <a href={makeHash("new", ["apiextensions.k8s.io", "v1", "customresourcedefinitions"])}>write one here</a>.
        </Empty>
      ) : (
        <ul class="cards">
          {custom.map((kind) => (
            <li key={`${kind.group}/${kind.resource}`}>
              <a class="card" href={listHash(kind)}>
                <KindSign kind={kind.kind} group={kind.group} large />
                <span>
                  <strong>{kind.kind}</strong>
                  <small>{apiVersionOf(kind)}</small>
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      <h2 class="section-title">Recent changes</h2>
      <RecentChanges limit={12} />
    </section>
  );
}
