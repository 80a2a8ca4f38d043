/** The rows of a live table: pages of a list, merged with the events of a watch. Nothing here touches the network. */
import type { Column, Json, Metadata, Table, TableRow, WatchEvent } from "../api/types";

export interface Row {
  key: string;
  name: string;
  namespace: string;
  uid: string;
  created: string;
  deleting: boolean;
  labels: Record<string, string>;
  cells: Json[];
  /** When an event changed the row last, 0 for a row of a page. */
  touched: number;
}

export function keyOf(metadata: Metadata): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function makeRow(row: TableRow, touched: number): Row | null {
  const metadata = row.object?.metadata;
  if (metadata === undefined) return null;
  return {
    key: keyOf(metadata),
    name: metadata.name,
    namespace: metadata.namespace ?? "",
    uid: metadata.uid ?? "",
    created: metadata.creationTimestamp ?? "",
    deleting: metadata.deletionTimestamp !== undefined,
    labels: metadata.labels ?? {},
    cells: row.cells,
    touched,
  };
}

/**
 * Rows by key, in the server's order. Objects behind the last page that was read are counted but not held; events about
 * them wait until their page comes, for a page shows the state in which the list was begun.
 */
export class TableRows {
  columns: Column[] = [];
  rows = new Map<string, Row>();
  /** Where the next page begins; "" after the last one. */
  next = "";
  /** Objects behind the pages that were read. */
  remaining = 0;
  resourceVersion = "";
  private last = "";
  private waiting = new Map<string, Row | null>();

  /** Begin anew with the first page of a list. */
  reset(page: Table): void {
    this.rows = new Map();
    this.waiting = new Map();
    this.last = "";
    this.resourceVersion = page.metadata.resourceVersion ?? "";
    this.append(page);
  }

  /** Add the following page. */
  append(page: Table): void {
    if (page.columnDefinitions !== undefined && page.columnDefinitions.length > 0)
      this.columns = page.columnDefinitions;
    for (const each of page.rows) {
      const row = makeRow(each, 0);
      if (row === null) continue;
      if (row.key > this.last) this.last = row.key;
      this.rows.set(row.key, row);
    }
    this.next = page.metadata.continue ?? "";
    this.remaining = this.next === "" ? 0 : (page.metadata.remainingItemCount ?? this.remaining);
    for (const [key, row] of this.waiting) {
      if (!this.covers(key)) continue;
      this.waiting.delete(key);
      if (row === null) this.rows.delete(key);
      else this.rows.set(key, row);
    }
  }

  private covers(key: string): boolean {
    return this.next === "" || key <= this.last;
  }

  /** Take one event. Returns false for an error: the list must be read again. */
  apply(event: WatchEvent<Table>, now: number): boolean {
    if (event.type === "ERROR") return false;
    const table = event.object;
    if (table.columnDefinitions !== undefined && table.columnDefinitions.length > 0)
      this.columns = table.columnDefinitions;
    if (table.metadata?.resourceVersion) this.resourceVersion = table.metadata.resourceVersion;
    for (const each of table.rows ?? []) {
      const version = each.object?.metadata.resourceVersion;
      if (version) this.resourceVersion = version;
      if (event.type === "BOOKMARK") continue;
      const row = makeRow(each, now);
      if (row === null) continue;
      const gone = event.type === "DELETED";
      if (!this.covers(row.key)) {
        if (event.type === "ADDED") this.remaining += 1;
        if (gone) this.remaining = Math.max(this.remaining - 1, 0);
        this.waiting.set(row.key, gone ? null : row);
      } else if (gone) this.rows.delete(row.key);
      else this.rows.set(row.key, row);
    }
    return true;
  }

  get total(): number {
    return this.rows.size + this.remaining;
  }
}

export interface View {
  text: string;
  /** Index of a column, -1 for the server's order. */
  sort: number;
  descending: boolean;
}

const NUMBER = /^-?\d+(\.\d+)?$/;

function textOf(cell: Json | undefined): string {
  return cell === null || cell === undefined ? "" : typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

function compareCells(a: Json | undefined, b: Json | undefined): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const left = textOf(a);
  const right = textOf(b);
  if (NUMBER.test(left) && NUMBER.test(right)) return Number(left) - Number(right);
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareKeys(a: Row, b: Row): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Whether a column tells how old an object is; its cells are written anew as time passes. */
export function isAge(column: Column | undefined): boolean {
  return column?.name === "Age";
}

/** The rows to show: those that have all words of the text, in the wanted order. */
export function arrange(table: TableRows, view: View): Row[] {
  let rows = [...table.rows.values()];
  const words = view.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length > 0) {
    rows = rows.filter((row) => {
      const text = `${row.key} ${row.cells.map(textOf).join(" ")}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }
  const column = table.columns[view.sort];
  if (column === undefined) return rows.sort(compareKeys);
  const sign = view.descending ? -1 : 1;
  const compare = isAge(column)
    ? (a: Row, b: Row): number => -compareCells(a.created, b.created)
    : (a: Row, b: Row): number => compareCells(a.cells[view.sort], b.cells[view.sort]);
  return rows.sort((a, b) => sign * compare(a, b) || compareKeys(a, b));
}
