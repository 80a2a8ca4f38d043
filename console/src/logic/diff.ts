/** Differences of two texts, line by line (Myers' algorithm, linear in memory where texts are alike at both ends). */

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

const MOST = 1000; // edits that are looked for; beyond it all lines count as replaced

function backtrack(a: string[], b: string[], trace: Map<number, number>[]): DiffLine[] {
  const found: DiffLine[] = [];
  let x = a.length;
  let y = b.length;
  for (let depth = trace.length - 1; depth >= 0; depth--) {
    const before = trace[depth] ?? new Map<number, number>();
    const k = x - y;
    const down = k === -depth || (k !== depth && (before.get(k - 1) ?? -1) < (before.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1;
    const startX = depth === 0 ? 0 : (before.get(from) ?? 0);
    const startY = depth === 0 ? 0 : startX - from;
    while (x > startX && y > startY && (depth === 0 || x - startX > (down ? 0 : 1) || y - startY > (down ? 1 : 0))) {
      found.push({ kind: "same", text: a[--x] ?? "" });
      y--;
    }
    if (depth === 0) break;
    if (down) found.push({ kind: "added", text: b[--y] ?? "" });
    else found.push({ kind: "removed", text: a[--x] ?? "" });
  }
  return found.reverse();
}

function diffMiddle(a: string[], b: string[]): DiffLine[] {
  const trace: Map<number, number>[] = [];
  const far = new Map<number, number>([[1, 0]]);
  for (let depth = 0; depth <= Math.min(a.length + b.length, MOST); depth++) {
    trace.push(new Map(far));
    for (let k = -depth; k <= depth; k += 2) {
      const down = k === -depth || (k !== depth && (far.get(k - 1) ?? -1) < (far.get(k + 1) ?? -1));
      let x = down ? (far.get(k + 1) ?? 0) : (far.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      far.set(k, x);
      if (x >= a.length && y >= b.length) return backtrack(a, b, trace);
    }
  }
  return [
    ...a.map((text): DiffLine => ({ kind: "removed", text })),
    ...b.map((text): DiffLine => ({ kind: "added", text })),
  ];
}

export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ kind: "same", text }));
  return [
    ...same(a.slice(0, start)),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

/** The lines of a difference with some lines around each change; null stands for lines that are left out. */
export function foldSame(lines: DiffLine[], around = 3): (DiffLine | null)[] {
  const keep = lines.map(() => false);
  lines.forEach((line, index) => {
    if (line.kind === "same") return;
    for (let at = Math.max(index - around, 0); at <= Math.min(index + around, lines.length - 1); at++) keep[at] = true;
  });
  const found: (DiffLine | null)[] = [];
  lines.forEach((line, index) => {
    if (keep[index]) found.push(line);
    else if (found[found.length - 1] !== null) found.push(null);
  });
  return found;
}
