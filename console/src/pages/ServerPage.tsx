/** The server: load and memory as plots, its checks, what is asked, and faults for tests. */
import { useEffect, useState } from "preact/hooks";
import { findKind } from "../api/discovery";
import { getText } from "../api/http";
import { Faults } from "../server/Faults";
import { countRequests, LINES, parseChecks, parseMetrics, type Reading } from "../server/metrics";
import { Plot } from "../server/Plot";
import { RequestLog } from "../server/RequestLog";
import { Badge, Loading, Problem } from "../ui/parts";
import { PlainTable, StatusBadge } from "../ui/PlainTable";
import "../styles/definitions.css";

const EVERY = 2000; // milliseconds
const MOST = 150; // readings
const BUSIEST = 15;

interface Points {
  times: number[];
  lines: (number | null)[][];
}

function useReadings(): {
  points: Points;
  last: Reading | null;
  before: Reading | null;
  checks: { name: string; good: boolean }[];
  error: Error | null;
} {
  const [points, setPoints] = useState<Points>({ times: [], lines: LINES.map(() => []) });
  const [last, setLast] = useState<[Reading | null, Reading | null]>([null, null]);
  const [checks, setChecks] = useState<{ name: string; good: boolean }[]>([]);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    let previous: Reading | null = null;
    let ended = false;
    const look = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        const [text, health] = await Promise.all([
          getText("/metrics", { quiet: true }),
          getText("/readyz?verbose", { quiet: true }),
        ]);
        if (ended) return;
        const reading: Reading = { at: Date.now(), samples: parseMetrics(text) };
        setChecks(parseChecks(health));
        setError(null);
        if (previous !== null) {
          const from = previous;
          setLast([from, reading]);
          setPoints((was) => ({
            times: [...was.times, reading.at / 1000].slice(-MOST),
            lines: LINES.map((line, index) => {
              const value = line.value(from, reading);
              return [...(was.lines[index] ?? []), Number.isFinite(value) ? value : null].slice(-MOST);
            }),
          }));
        }
        previous = reading;
      } catch (problem) {
        if (!ended) setError(problem as Error);
      }
    };
    void look().then(() => !ended && setTimeout(() => void look(), 400));
    const timer = setInterval(() => void look(), EVERY);
    return () => {
      ended = true;
      clearInterval(timer);
    };
  }, []);
  return { points, before: last[0], last: last[1], checks, error };
}

export function ServerPage() {
  const { points, before, last, checks, error } = useReadings();
  const rows = before !== null && last !== null ? countRequests(before.samples, last.samples) : [];
  return (
    <section class="page">
      <header class="page-head">
        <div class="titles">
          <h1>Server</h1>
          <p class="dim">Read every two seconds from /metrics</p>
        </div>
      </header>
      {error !== null && <Problem error={error} />}
      {points.times.length === 0 && error === null && <Loading what="Reading metrics" />}
      {points.times.length > 0 && (
        <div class="plots">
          {LINES.map((line, index) => (
            <Plot
              key={line.title}
              title={line.title}
              unit={line.unit}
              times={points.times}
              values={points.lines[index] ?? []}
            />
          ))}
        </div>
      )}
      <h2 class="section-title">Checks and controllers</h2>
      <div class="checks">
        {checks.map((one) => (
          <Badge key={one.name} tone={one.good ? "good" : "bad"}>
            {one.name}
          </Badge>
        ))}
      </div>
      <h2 class="section-title">Requests of the last two seconds</h2>
      <PlainTable label="Requests" heads={["Request", "Answer", "Count"]} numbers={["Count"]}>
        {rows.slice(0, BUSIEST).map((row) => (
          <tr key={row.key}>
            <td>{row.what}</td>
            <td>
              <StatusBadge code={Number(row.code)} />
            </td>
            <td class="number">{row.count}</td>
          </tr>
        ))}
      </PlainTable>
      <h2 class="section-title">Faults for tests</h2>
      <Faults />
      {findKind("testing.podless.dev", "v1", "faults") !== undefined && (
        <>
          <h2 class="section-title">Request log</h2>
          <RequestLog />
        </>
      )}
    </section>
  );
}
