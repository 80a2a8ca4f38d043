/** The requests of all clients as they come, from /podless/requests. Servers with --enable-faults have it. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, followLines } from "../api/http";
import { formatClock, formatDuration } from "../logic/time";
import { Badge, Button, Empty, Problem } from "../ui/parts";
import { PlainTable, StatusBadge } from "../ui/PlainTable";

interface Logged {
  at: number;
  user: string;
  agent: string;
  verb: string;
  path: string;
  status: number;
  seconds: number;
}

type Line = Logged | { skipped: number };

const MOST = 500; // lines that are kept
const SHOWN = 100;
const AGAIN = 2000; // milliseconds until the next attempt

function useLog(paused: boolean): { lines: Logged[]; skipped: number; error: Error | null } {
  const [lines, setLines] = useState<Logged[]>([]);
  const [skipped, setSkipped] = useState(0);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    if (paused) return;
    const controller = new AbortController();
    const run = async (): Promise<void> => {
      for (; !controller.signal.aborted; await new Promise((resolve) => setTimeout(resolve, AGAIN))) {
        setLines([]); // the stream begins with what came last
        try {
          for await (const piece of followLines<Line>("/podless/requests?watch=true", controller.signal)) {
            setError(null);
            setLines((before) => [...before, ...piece.filter((line) => !("skipped" in line))].slice(-MOST) as Logged[]);
            const left = piece.reduce((sum, line) => sum + ("skipped" in line ? line.skipped : 0), 0);
            if (left > 0) setSkipped((before) => before + left);
          }
        } catch (problem) {
          if (controller.signal.aborted) return;
          setError(problem as Error);
          if (problem instanceof ApiError && problem.code < 500 && problem.code !== 429) return;
        }
      }
    };
    void run();
    return () => controller.abort();
  }, [paused]);
  return { lines, skipped, error };
}

export function RequestLog() {
  const [paused, setPaused] = useState(false);
  const [own, setOwn] = useState(false);
  const [text, setText] = useState("");
  const { lines, skipped, error } = useLog(paused);
  const fitting = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/);
    const fits = (line: Logged): boolean => {
      if (!own && line.agent === navigator.userAgent) return false;
      const all = `${line.user} ${line.verb} ${line.path} ${line.status} ${line.agent}`.toLowerCase();
      return words.every((word) => all.includes(word));
    };
    return lines.filter(fits).slice(-SHOWN).reverse();
  }, [lines, own, text]);
  if (error instanceof ApiError)
    return (
      <Problem error={error} title={error.code === 403 ? "You may not see the requests of all users" : undefined} />
    );
  return (
    <>
      <div class="filters">
        <label class="field search">
          <input
            type="search"
            placeholder="Filter: zoe patch 409"
            aria-label="Filter requests"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <Button pressed={paused} onClick={() => setPaused(!paused)}>
          Pause
        </Button>
        <Button pressed={own} onClick={() => setOwn(!own)}>
          With this browser's
        </Button>
        {skipped > 0 && <Badge tone="busy">{skipped} not shown: too many at once</Badge>}
        {error !== null && <Badge tone="bad">disconnected</Badge>}
      </div>
      {fitting.length === 0 ? (
        <Empty title={lines.length === 0 ? "No requests yet" : "No other client has sent a request that matches"} />
      ) : (
        <PlainTable
          label="Request log"
          tall
          heads={["Time", "Status", "Duration", "Verb", "Path", "User", "Client"]}
          numbers={["Duration"]}
        >
          {fitting.map((line, index) => (
            <tr key={`${line.at} ${index}`}>
              <td>{formatClock(line.at * 1000)}</td>
              <td>
                <StatusBadge code={line.status} />
              </td>
              <td class="number">{formatDuration(line.seconds)}</td>
              <td>{line.verb}</td>
              <td class="whole">
                <code>{line.path}</code>
              </td>
              <td>{line.user}</td>
              <td title={line.agent}>{line.agent.split(" ")[0]}</td>
            </tr>
          ))}
        </PlainTable>
      )}
    </>
  );
}
