/** The rows of a table that are in sight; all others are space. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Column, Json } from "../api/types";
import { formatAge } from "../logic/time";
import { toneOfCell } from "../logic/tone";
import { Icon } from "../ui/Icon";
import { Badge, useNow } from "../ui/parts";
import { isAge, type Row, type View } from "./rows";

const HEIGHT = 38; // pixels of a row
const BEYOND = 12; // rows above and below those in sight

interface Props {
  label: string;
  columns: { column: Column; index: number }[];
  rows: Row[];
  view: View;
  withNamespace: boolean;
  total: number;
  onSort: (index: number) => void;
  onOpen: (row: Row) => void;
  hrefOf: (row: Row) => string;
  onEnd: () => void;
}

export function TableView(props: Props) {
  const { columns, rows, view } = props;
  const place = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [active, setActive] = useState(0);
  const now = useNow(1000);

  useLayoutEffect(() => {
    const box = place.current;
    if (box === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(box.clientHeight));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);

  const first = Math.max(Math.floor(top / HEIGHT) - BEYOND, 0);
  const end = Math.min(first + Math.ceil(height / HEIGHT) + 2 * BEYOND, rows.length);
  useEffect(() => {
    if (end >= rows.length - 50) props.onEnd();
  }, [end, rows.length]);

  useEffect(() => {
    if (rows.length > 0 && performance.getEntriesByName("first-table").length === 0) performance.mark("first-table");
  }, [rows.length > 0]);

  const move = (to: number): void => {
    const next = Math.max(0, Math.min(to, rows.length - 1));
    setActive(next);
    const box = place.current;
    if (box === null) return;
    const y = next * HEIGHT;
    if (y < box.scrollTop) box.scrollTop = y;
    else if (y + 2 * HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = y + 2 * HEIGHT - box.clientHeight;
  };
  const onKey = (event: KeyboardEvent): void => {
    const page = Math.max(Math.floor(height / HEIGHT) - 2, 1);
    const steps: Record<string, number> = {
      ArrowDown: active + 1,
      j: active + 1,
      ArrowUp: active - 1,
      k: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    };
    const to = steps[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (to !== undefined) {
      event.preventDefault();
      move(to);
    } else if (event.key === "Enter" && event.target === place.current) {
      const row = rows[active];
      if (row !== undefined) props.onOpen(row);
    }
  };

  return (
    <div
      ref={place}
      class="table-box"
      tabIndex={0}
      role="region"
      aria-label={props.label}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKey}
    >
      <table aria-rowcount={props.total + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {props.withNamespace && <th scope="col">Namespace</th>}
            {columns.map(({ column, index }) => (
              <th
                key={index}
                scope="col"
                title={column.description}
                aria-sort={view.sort === index ? (view.descending ? "descending" : "ascending") : undefined}
                class={column.type === "integer" || column.type === "number" ? "number" : ""}
              >
                <button type="button" onClick={() => props.onSort(index)}>
                  {column.name}
                  <span
                    class={`sort ${view.sort === index ? (view.descending ? "down" : "up") : ""}`}
                    aria-hidden="true"
                  />
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr class="space" aria-hidden="true" style={{ height: `${first * HEIGHT}px` }} />}
          {rows.slice(first, end).map((row, offset) => (
            <TableLine
              key={row.key}
              row={row}
              place={first + offset}
              active={first + offset === active}
              props={props}
              now={now}
              onPick={setActive}
            />
          ))}
          {end < rows.length && (
            <tr class="space" aria-hidden="true" style={{ height: `${(rows.length - end) * HEIGHT}px` }} />
          )}
        </tbody>
      </table>
    </div>
  );
}

function TableLine({
  row,
  place,
  active,
  props,
  now,
  onPick,
}: {
  row: Row;
  place: number;
  active: boolean;
  props: Props;
  now: number;
  onPick: (place: number) => void;
}) {
  const fresh = row.touched > 0 && now - row.touched < 1600;
  const classes = [active ? "active" : "", row.deleting ? "deleting" : "", fresh ? "fresh" : ""].join(" ");
  return (
    <tr
      class={classes}
      aria-rowindex={place + 2}
      onClick={(event) => {
        onPick(place);
        if (!(event.target instanceof HTMLAnchorElement)) props.onOpen(row);
      }}
    >
      {props.withNamespace && <td class="dim">{row.namespace}</td>}
      {props.columns.map(({ column, index }) => (
        <td key={index} class={column.type === "integer" || column.type === "number" ? "number" : ""}>
          {index === 0 ? (
            <>
              <a href={props.hrefOf(row)} tabIndex={-1}>
                {row.name}
              </a>
              {row.deleting && <Icon name="trash" size={13} />}
            </>
          ) : (
            <Cell column={column} cell={isAge(column) ? formatAge(row.created, now) : (row.cells[index] ?? null)} />
          )}
        </td>
      ))}
    </tr>
  );
}

export function Cell({ column, cell }: { column: Column; cell: Json }) {
  if (cell === null || cell === "") return <span class="dim">–</span>;
  const text = typeof cell === "object" ? JSON.stringify(cell) : String(cell);
  const tone = toneOfCell(column.name, cell);
  return tone === "none" ? (
    <span title={text.length > 40 ? text : undefined}>{text}</span>
  ) : (
    <Badge tone={tone}>{text}</Badge>
  );
}
