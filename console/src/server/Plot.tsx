/** A plot of one line over time. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

const HEIGHT = 120;
const SHOWN = 60; // seconds at least

const formatMoment = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleTimeString(undefined, { hour12: false });

export function Plot({
  title,
  unit,
  times,
  values,
}: {
  title: string;
  unit: string;
  times: number[];
  values: (number | null)[];
}) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const box = place.current;
    if (box === null) return undefined;
    const style = getComputedStyle(box);
    const color = (name: string) => () => style.getPropertyValue(name); // asked at each drawing, for the theme can change
    const axis = {
      stroke: color("--dim"),
      grid: { stroke: color("--line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
    };
    const made = new uPlot(
      {
        width: box.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false },
        axes: [
          { ...axis, size: 26, values: (_, moments) => moments.map(formatMoment) },
          { ...axis, size: 46 },
        ],
        scales: {
          x: { range: (_, low, high) => [Math.min(low, high - SHOWN), high] },
          y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.15 : 1] },
        },
        series: [
          {},
          {
            stroke: color("--accent"),
            fill: color("--accent-soft"),
            width: 2,
            points: { show: false },
            spanGaps: true,
          },
        ],
      },
      [times, values],
      box,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: HEIGHT }));
    observer.observe(box);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData([times, values]), [times, values]);
  const last = values[values.length - 1];
  const shown =
    last === null || last === undefined || Number.isNaN(last)
      ? "–"
      : unit === "" || last >= 100
        ? last.toFixed(0)
        : last.toFixed(1);
  return (
    <figure class="plot panel">
      <h3>
        {title}
        <span>
          {shown} {unit}
        </span>
      </h3>
      <div ref={place} role="img" aria-label={`${title}: ${shown} ${unit}`} />
    </figure>
  );
}
