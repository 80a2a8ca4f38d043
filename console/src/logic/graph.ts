/** Where the nodes of a graph of owners and dependents stand: from left to right, or below each other on a narrow page. */

export interface Linked {
  uid: string;
  /** The node to which its edge leads. */
  near: string;
  depth: number;
}

export interface Place {
  x: number;
  y: number;
}

export interface Layout {
  width: number;
  height: number;
  places: Map<string, Place>;
}

export const WIDTH = 230;
export const HEIGHT = 46;
const GAP_X = 70;
const GAP_Y = 16;
const INDENT = 26;

/** Owners stand before the object, the furthest first, and dependents after it, in columns by their depth. */
export function layoutWide(own: string, owners: Linked[], dependents: Linked[]): Layout {
  const places = new Map<string, Place>();
  const left = Math.max(0, ...owners.map((one) => -one.depth));
  const right = Math.max(0, ...dependents.map((one) => one.depth));
  const step = HEIGHT + GAP_Y;
  const xOf = (depth: number): number => (depth + left) * (WIDTH + GAP_X) + 1;
  let row = 0;
  const put = (uid: string, depth: number): number => {
    const inner = dependents.filter((one) => one.near === uid).map((one) => put(one.uid, one.depth));
    const y = inner.length === 0 ? row++ * step : ((inner[0] ?? 0) + (inner[inner.length - 1] ?? 0)) / 2;
    places.set(uid, { x: xOf(depth), y });
    return y;
  };
  const middle = put(own, 0);
  let low = 0;
  let high = Math.max(row - 1, 0) * step;
  for (let depth = -1; depth >= -left; depth--) {
    const column = owners.filter((one) => one.depth === depth);
    const start = middle - ((column.length - 1) * step) / 2;
    column.forEach((one, index) => places.set(one.uid, { x: xOf(depth), y: start + index * step }));
    low = Math.min(low, start);
    high = Math.max(high, start + (column.length - 1) * step);
  }
  for (const place of places.values()) place.y += 1 - low;
  return { width: xOf(right) + WIDTH + 1, height: high - low + HEIGHT + 2, places };
}

/** All stand below each other: owners, the furthest first, the object, and its dependents, further in by their depth. */
export function layoutNarrow(own: string, owners: Linked[], dependents: Linked[], width: number): Layout {
  const step = HEIGHT + GAP_Y / 2;
  const deepest = Math.max(1, ...dependents.map((one) => one.depth));
  const indent = Math.min(INDENT, Math.max((width - WIDTH) / deepest, 8));
  const order = [...owners].sort((a, b) => a.depth - b.depth);
  const places = new Map<string, Place>();
  [...order, { uid: own, depth: 0 }, ...dependents].forEach((one, index) =>
    places.set(one.uid, { x: 1 + Math.max(one.depth, 0) * indent, y: 1 + index * step }),
  );
  return { width, height: places.size * step, places };
}

/** The line between two nodes. narrow: from the foot of the upper one to the side of the lower one. */
export function drawEdge(from: Place, to: Place, narrow: boolean): string {
  if (narrow) {
    const x = from.x + 12;
    if (to.x <= x) return `M${x} ${from.y + HEIGHT}V${to.y}`;
    return `M${x} ${from.y + HEIGHT}V${to.y + HEIGHT / 2}H${to.x}`;
  }
  const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  return `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`;
}
