/** Icons as paths of a 24 by 24 box, and the coloured sign of a kind. */
const PATHS = {
  menu: "M4 6h16M4 12h16M4 18h16",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM15.5 15.5 20 20",
  close: "M6 6l12 12M18 6 6 18",
  plus: "M12 5v14M5 12h14",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  edit: "M4 20h4L19 9l-4-4L4 16v4Z",
  scale: "M4 20h16M6 20v-6h3v6M11 20V9h3v11M16 20V4h3v16",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  logout: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  schema: "M12 3v5M6 16v-3h12v3M12 8v5M4 16h4v4H4zM16 16h4v4h-4zM10 3h4v5h-4z",
  history: "M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5M12 8v4.5l3 2",
  shield: "M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6zM9 12l2 2 4-4",
  pulse: "M3 12h4l3-8 4 16 3-8h4",
  chevron: "M9 6l6 6-6 6",
  down: "M6 9l6 6 6-6",
  check: "M5 12.5l4.5 4.5L19 7.5",
  alert: "M12 4 2.5 20h19zM12 10v4.5M12 17.2v.3",
  undo: "M9 7 4 12l5 5M4 12h10a6 6 0 0 1 0 12",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  eye: "M2 12s3.5-7 10-7 10 7 10 7-3.5 7-10 7-10-7-10-7ZM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A hue for a text, always the same one. */
export function hueOf(text: string): number {
  let hash = 0;
  for (const letter of text) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return Math.round(((hash % 24) / 24) * 360);
}

/** The capitals of a kind's name: CronTab is CT, Pod is Po. */
export function initialsOf(kind: string): string {
  const capitals = kind.replace(/[^A-Z]/g, "");
  return capitals.length >= 2 ? capitals.slice(0, 2) : kind.slice(0, 2);
}

export function KindSign({ kind, group, large = false }: { kind: string; group: string; large?: boolean }) {
  const hue = hueOf(`${group}/${kind}`);
  return (
    <span class={large ? "sign large" : "sign"} style={{ "--hue": String(hue) }} aria-hidden="true">
      {initialsOf(kind)}
    </span>
  );
}

export function Logo({ size = 28 }: { size?: number }) {
  return (
    <svg class="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="logo-back" />
      <path
        d="M16 6l8.7 5v10L16 26l-8.7-5V11z"
        fill="none"
        stroke="#fff"
        stroke-width="2.4"
        stroke-linejoin="round"
        stroke-dasharray="5.2 2.6"
      />
    </svg>
  );
}
