/** Owners, the object and its dependents as a graph from left to right. */
import { objectHash } from "../state/route";
import { hueOf, initialsOf } from "../ui/Icon";
import { Loading, Problem, useLoaded } from "../ui/parts";
import type { TabProps } from "./ObjectPage";
import { findDependents, ownersOf, type Relation } from "./relations";

const WIDTH = 230;
const HEIGHT = 46;
const GAP_X = 90;
const GAP_Y = 16;

function Node({ node, x, y, own = false }: { node: Relation; x: number; y: number; own?: boolean }) {
  const body = (
    <g
      transform={`translate(${x},${y})`}
      class={own ? "node own" : "node"}
      style={{ "--hue": String(hueOf(`${node.group}/${node.kind}`)) }}
    >
      <rect width={WIDTH} height={HEIGHT} rx="10" />
      <rect x="10" y="11" width="24" height="24" rx="7" class="node-back" />
      <text x="22" y="27" class="node-sign" aria-hidden="true" text-anchor="middle">
        {initialsOf(node.kind)}
      </text>
      <text x="44" y="20" class="node-kind">
        {node.kind}
      </text>
      <text x="44" y="36" class="node-name">
        {node.name.length > 24 ? `${node.name.slice(0, 23)}…` : node.name}
      </text>
    </g>
  );
  if (own || node.known === undefined) return body;
  return <a href={objectHash(node.known, node.namespace, node.name)}>{body}</a>;
}

export function RelationsTab({ kind, object }: TabProps) {
  const { metadata } = object;
  const owners = ownersOf(object);
  const dependents = useLoaded((signal) => findDependents(object, signal), [metadata.uid]);
  if (dependents.error !== null) return <Problem error={dependents.error} />;
  if (dependents.value === null) return <Loading what="Looking for dependents" />;
  const found = dependents.value.found;
  const rows = Math.max(owners.length, found.length, 1);
  const height = rows * (HEIGHT + GAP_Y);
  const itself: Relation = {
    kind: kind.kind,
    group: kind.group,
    name: metadata.name,
    namespace: metadata.namespace ?? "",
    uid: metadata.uid ?? "",
    blocks: false,
  };
  const columns = owners.length > 0 ? 3 : 2;
  const xOwn = owners.length > 0 ? WIDTH + GAP_X : 0;
  const xFound = xOwn + WIDTH + GAP_X;
  const yOf = (index: number, count: number): number =>
    (height - count * (HEIGHT + GAP_Y)) / 2 + index * (HEIGHT + GAP_Y) + GAP_Y / 2;
  const middle = yOf(0, 1) + HEIGHT / 2;
  const line = (x1: number, y1: number, x2: number, y2: number): string =>
    `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`;
  return (
    <>
      <div class="graph panel" tabIndex={0} role="region" aria-label="Owners and dependents">
        <svg
          width={columns * WIDTH + (columns - 1) * GAP_X + 4}
          height={height}
          role="group"
          aria-label={`${owners.length} owners, ${found.length} dependents`}
        >
          {owners.map((owner, index) => (
            <path
              key={owner.uid}
              class={owner.blocks ? "edge strong" : "edge"}
              d={line(WIDTH, yOf(index, owners.length) + HEIGHT / 2, xOwn, middle)}
            />
          ))}
          {found.map((one, index) => (
            <path
              key={one.uid}
              class={one.blocks ? "edge strong" : "edge"}
              d={line(xOwn + WIDTH, middle, xFound, yOf(index, found.length) + HEIGHT / 2)}
            />
          ))}
          {owners.map((owner, index) => (
            <Node key={owner.uid} node={owner} x={1} y={yOf(index, owners.length)} />
          ))}
          <Node node={itself} x={xOwn + 1} y={yOf(0, 1)} own />
          {found.map((one, index) => (
            <Node key={one.uid} node={one} x={xFound} y={yOf(index, found.length)} />
          ))}
        </svg>
      </div>
      <p class="dim graph-note">
        {found.length === 0
          ? "No object names this one as its owner."
          : `${found.length} objects go when this one is deleted, unless they are orphaned.`}
        {dependents.value.unread.length > 0 && ` Not looked at: ${dependents.value.unread.join(", ")}.`}
      </p>
    </>
  );
}
