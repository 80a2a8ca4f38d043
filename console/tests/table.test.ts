import { describe, expect, it } from "vitest";
import type { Table } from "../src/api/types";
import { arrange, TableRows } from "../src/table/rows";

function page(names: string[], more: Partial<Table["metadata"]> = {}): Table {
  return {
    kind: "Table",
    metadata: { resourceVersion: "1", ...more },
    columnDefinitions: [
      { name: "Name", type: "string", format: "", description: "", priority: 0 },
      { name: "Size", type: "integer", format: "", description: "", priority: 0 },
    ],
    rows: names.map((name, index) => ({
      cells: [name, index],
      object: { metadata: { name, uid: name, resourceVersion: "1" } },
    })),
  };
}

describe("rows of a live table", () => {
  it("holds back events about pages that were not read", () => {
    const table = new TableRows();
    table.reset(page(["a", "c"], { continue: "t", remainingItemCount: 2 }));
    table.apply(
      { type: "MODIFIED", object: { ...page([]), rows: [{ cells: ["x", 9], object: { metadata: { name: "x" } } }] } },
      1,
    );
    table.apply(
      { type: "DELETED", object: { ...page([]), rows: [{ cells: ["y", 9], object: { metadata: { name: "y" } } }] } },
      1,
    );
    table.apply(
      { type: "ADDED", object: { ...page([]), rows: [{ cells: ["b", 9], object: { metadata: { name: "b" } } }] } },
      1,
    );
    expect([...table.rows.keys()].sort()).toEqual(["/a", "/b", "/c"]);
    expect(table.total).toBe(4);
    table.append(page(["x", "y"]));
    expect([...table.rows.keys()].sort()).toEqual(["/a", "/b", "/c", "/x"]);
    expect(table.rows.get("/x")?.cells[1]).toBe(9);
  });
  it("asks for a new list after an error", () => {
    expect(new TableRows().apply({ type: "ERROR", object: page([]) }, 1)).toBe(false);
  });
  it("sorts by a column and finds all words", () => {
    const table = new TableRows();
    table.reset(page(["one", "two", "three"]));
    expect(arrange(table, { text: "", sort: 1, descending: true }).map((row) => row.name)).toEqual([
      "three",
      "two",
      "one",
    ]);
    expect(arrange(table, { text: "T o", sort: -1, descending: false }).map((row) => row.name)).toEqual(["two"]);
  });
});
