/** Owners, the object and its dependents as a graph. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { drawEdge, HEIGHT, layoutNarrow, layoutWide, type Place, WIDTH } from "../logic/graph";
import { objectHash } from "../state/route";
import { hueOf, initialsOf } from "../ui/Icon";
import { Loading, Problem, useLoaded } from "../ui/parts";
import type { TabProps } from "./ObjectPage";
import { findRelations, type Relation } from "./relations";

const NARROW = 700; // pixels
const PADDING = 48;
const LONGEST = 24; // characters of a name that are shown

function Node({ node, place, own }: { node: Relation; place: Place; own: boolean }) {
  const body = (
    <g
      transform={`translate(${place.x},${place.y})`}
      class={own ? "node own" : "node"}
      style={{ "--hue": String(hueOf(`${node.group}/${node.kind}`)) }}
    >
      <title>{`${node.kind} ${node.name}`}</title>
      <rect width={WIDTH} height={HEIGHT} rx="10" />
      <rect x="10" y="11" width="24" height="24" rx="7" class="node-back" />
      <text x="22" y="27" class="node-sign" aria-hidden="true" text-anchor="middle">
        {initialsOf(node.kind)}
      </text>
      <text x="44" y="20" class="node-kind">
        {node.kind}
      </text>
      <text x="44" y="36" class="node-name">
        {node.name.length > LONGEST ? `${node.name.slice(0, LONGEST - 1)}…` : node.name}
      </text>
    </g>
  );
  if (own || node.known === undefined) return body;
  return <a href={objectHash(node.known, node.namespace, node.name)}>{body}</a>;
}

export function RelationsTab({ kind, object }: TabProps) {
  const { metadata } = object;
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const found = useLoaded((signal) => findRelations(object, signal), [metadata.uid]);
  const loaded = found.value !== null;
  useLayoutEffect(() => {
    if (box.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [loaded]);
  if (found.error !== null) return <Problem error={found.error} />;
  if (found.value === null) return <Loading what="Looking for dependents" />;
  const { owners, dependents, unread } = found.value;
  const { name, namespace = "", uid = "" } = metadata;
  const narrow = width > 0 && width < NARROW;
  const layout = narrow ? layoutNarrow(uid, owners, dependents, width) : layoutWide(uid, owners, dependents);
  const placeOf = (of: string): Place => layout.places.get(of) ?? { x: 0, y: 0 };
  const itself: Relation = {
    kind: kind.kind,
    group: kind.group,
    name,
    namespace,
    uid,
    near: "",
    depth: 0,
    strong: false,
  };
  return (
    <>
      <div
        class="graph panel"
        tabIndex={0}
        role="region"
        aria-label="Owners and dependents"
        style={{ "--padding": `${narrow ? PADDING / 4 : PADDING / 2}px` }}
      >
        <div ref={box}>
          <svg
            width={layout.width}
            height={layout.height}
            role="group"
            aria-label={`${owners.length} owners, ${dependents.length} dependents`}
          >
            {[...owners, ...dependents].map((one) => {
              const [from, to] = one.depth < 0 ? [one.uid, one.near] : [one.near, one.uid];
              const line = drawEdge(placeOf(from), placeOf(to), narrow);
              return <path key={one.uid} class={one.strong ? "edge strong" : "edge"} d={line} />;
            })}
            {[...owners, itself, ...dependents].map((one) => (
              <Node key={one.uid} node={one} place={placeOf(one.uid)} own={one === itself} />
            ))}
          </svg>
        </div>
      </div>
      <p class="dim graph-note">
        {dependents.length === 0
          ? "No object names this one as its owner."
          : `${dependents.length === 1 ? "1 object goes" : `${dependents.length} objects go`} when this one is deleted, unless they are orphaned or have other owners.`}
        {unread.length > 0 && ` Not looked at: ${unread.join(", ")}.`}
      </p>
    </>
  );
}
