/** CustomResourceDefinitions: schema, rules, versions, columns; an object to try; a comparison with another one. */
import { useMemo, useState } from "preact/hooks";
import { findKind, kinds } from "../api/discovery";
import { get } from "../api/http";
import type { ApiList } from "../api/types";
import { CostTable } from "../schema/Costs";
import { readCosts } from "../schema/costs";
import { type Definition, shapeOf } from "../schema/definition";
import { Columns, Compare, Try } from "../schema/parts";
import { SchemaTree } from "../schema/Tree";
import { listHash, makeHash, objectHash, route, setQuery } from "../state/route";
import { KindSign } from "../ui/Icon";
import { Badge, Empty, Loading, Problem, useLoaded } from "../ui/parts";
import { conditionsOf } from "../object/OverviewTab";
import "../styles/object.css";
import "../styles/definitions.css";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export function DefinitionsPage() {
  const found = useLoaded((signal) => get<ApiList<Definition>>(CRDS, { signal }), [kinds.value]);
  const [text, setText] = useState("");
  if (found.error !== null)
    return (
      <section class="page">
        <Problem error={found.error} />
      </section>
    );
  if (found.value === null) return <Loading what="Reading definitions" />;
  const all = [...(found.value.items ?? [])].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const chosen = all.find((one) => one.metadata.name === route.value.parts[0]) ?? all[0];
  return (
    <section class="page">
      <header class="page-head">
        <div class="titles">
          <h1>Definitions</h1>
          <p class="dim">{all.length} CustomResourceDefinitions</p>
        </div>
      </header>
      {chosen === undefined ? (
        <Empty title="No definitions">
          <a href={makeHash("new", ["apiextensions.k8s.io", "v1", "customresourcedefinitions"])}>Write the first one</a>
        </Empty>
      ) : (
        <div class="definitions">
          <nav class="definition-list" aria-label="Definitions">
            <input
              class="plain-input"
              type="search"
              placeholder="Find a definition"
              aria-label="Find a definition"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <ul>
              {all
                .filter((one) => one.metadata.name.includes(text.toLowerCase()))
                .slice(0, 300)
                .map((one) => (
                  <li key={one.metadata.name}>
                    <a
                      href={makeHash("definitions", [one.metadata.name])}
                      aria-current={one === chosen ? "page" : undefined}
                    >
                      <KindSign kind={one.spec.names.kind} group={one.spec.group} />
                      <span>
                        {one.spec.names.kind}
                        <small>{one.spec.group}</small>
                      </span>
                    </a>
                  </li>
                ))}
            </ul>
          </nav>
          <OneDefinition key={chosen.metadata.name} definition={chosen} all={all} />
        </div>
      )}
    </section>
  );
}

const PARTS = ["Schema", "Rules", "Try an object", "Compare", "Columns"];

function OneDefinition({ definition, all }: { definition: Definition; all: Definition[] }) {
  const { spec } = definition;
  const [versionName, setVersionName] = useState(spec.versions.find((one) => one.storage)?.name ?? "");
  const part = route.value.query["part"] ?? PARTS[0];
  const version = spec.versions.find((one) => one.name === versionName);
  const shape = useMemo(() => shapeOf(version), [version]);
  const kind = findKind(spec.group, versionName, spec.names.plural);
  const own = findKind("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  const costs = useLoaded(
    (signal) => readCosts(definition.metadata.name, signal),
    [definition.metadata.name, definition.metadata.resourceVersion],
  );
  const bad = conditionsOf(definition).filter(
    (one) => (one.type === "Established" || one.type === "NamesAccepted") && one.status !== "True",
  );
  const webhook = spec.conversion?.webhook?.clientConfig;
  return (
    <div class="definition">
      <header class="page-head">
        <KindSign kind={spec.names.kind} group={spec.group} large />
        <div class="titles">
          <h2 class="big">{spec.names.kind}</h2>
          <p class="dim">
            {definition.metadata.name} · {spec.scope}
            {spec.names.shortNames !== undefined && ` · ${spec.names.shortNames.join(", ")}`}
          </p>
        </div>
        <span class="spacer" />
        {kind !== undefined && (
          <a class="button normal" href={listHash(kind)}>
            Objects
          </a>
        )}
        {own !== undefined && (
          <a class="button normal" href={objectHash(own, "", definition.metadata.name, "yaml")}>
            Edit
          </a>
        )}
      </header>
      {bad.map((one) => (
        <p key={one.type} class="note">
          {one.type} is {one.status}: {one.message}
        </p>
      ))}
      <ul class="versions" aria-label="Versions">
        {spec.versions.map((one) => (
          <li key={one.name}>
            <button
              type="button"
              class="version"
              aria-pressed={one.name === versionName}
              onClick={() => setVersionName(one.name)}
            >
              {one.name} {one.storage && <Badge tone="good">stored</Badge>} {!one.served && <Badge>not served</Badge>}{" "}
              {one.deprecated === true && <Badge tone="busy">deprecated</Badge>}
            </button>
          </li>
        ))}
        <li class="dim">
          Conversion: {spec.conversion?.strategy ?? "None"}
          {webhook !== undefined && ` by ${webhook.url ?? `${webhook.service?.namespace}/${webhook.service?.name}`}`}
        </li>
      </ul>
      <div class="tabs" role="group" aria-label="Parts of the definition">
        {PARTS.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={part === one}
            onClick={() => setQuery({ part: one === PARTS[0] ? "" : one })}
          >
            {one}
          </button>
        ))}
      </div>
      {part === "Schema" && (
        <ul class="tree panel root-tree">
          <SchemaTree
            name={spec.names.kind}
            shape={shape}
            costs={costs.value?.versions.find((one) => one.name === versionName)?.rules}
          />
        </ul>
      )}
      {part === "Rules" &&
        (costs.error !== null ? (
          <Problem error={costs.error} />
        ) : costs.value === null ? (
          <Loading />
        ) : (
          <CostTable costs={costs.value} version={versionName} />
        ))}
      {part === "Try an object" && <Try definition={definition} version={versionName} shape={shape} />}
      {part === "Compare" && <Compare definition={definition} version={versionName} shape={shape} all={all} />}
      {part === "Columns" && <Columns version={version} />}
    </div>
  );
}
