/** Field paths as the server writes them: spec.users[0].name, data[a.b], [0].x. */
export type Step = string | number;

export function parseFieldPath(text: string): Step[] {
  const steps: Step[] = [];
  let word = "";
  const flush = (): void => {
    if (word !== "") steps.push(word);
    word = "";
  };
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === ".") flush();
    else if (letter === "[") {
      flush();
      const end = text.indexOf("]", at);
      const inner = end < 0 ? text.slice(at + 1) : text.slice(at + 1, end);
      steps.push(/^\d+$/.test(inner) ? Number(inner) : inner.replace(/^["']|["']$/g, ""));
      at = end < 0 ? text.length : end;
    } else word += letter;
  }
  flush();
  return steps;
}

export function formatFieldPath(steps: Step[]): string {
  return steps
    .map((step, index) =>
      typeof step === "number" || /[.[\]/]/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join("");
}

/** The fields that a status complains of. The text of strict decoding names them only in its message. */
export interface Complaint {
  path: Step[];
  message: string;
}

export function readComplaints(message: string, causes: { field?: string; message?: string }[]): Complaint[] {
  const found = causes.map((cause) => ({ path: parseFieldPath(cause.field ?? ""), message: cause.message ?? "" }));
  if (found.length > 0) return found;
  const strict = [...message.matchAll(/(unknown|duplicate) field "([^"]+)"/g)];
  if (strict.length > 0)
    return strict.map((one) => ({ path: parseFieldPath(one[2] ?? ""), message: `${one[1]} field` }));
  return [{ path: [], message }];
}
