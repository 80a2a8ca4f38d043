/** Ages as kubectl writes them (k8s.io/apimachinery's duration.HumanDuration). */
export function formatAge(from: string, now: number): string {
  const start = Date.parse(from);
  if (Number.isNaN(start)) return "";
  const seconds = Math.floor((now - start) / 1000);
  if (seconds < 0) return seconds < -1 ? "<invalid>" : "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 && days % 365 !== 0 ? `${years}y${days % 365}d` : `${years}y`;
}

export function formatTime(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? iso
    : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** The time of day with tenths of a second. */
export function formatClock(milliseconds: number): string {
  const date = new Date(milliseconds);
  return `${date.toLocaleTimeString(undefined, { hour12: false })}.${Math.floor(date.getMilliseconds() / 100)}`;
}

/** A duration in seconds, with the unit that fits it. */
export function formatDuration(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(1)} s`;
  return `${(seconds * 1000).toFixed(seconds >= 0.01 ? 0 : 1)} ms`;
}
