/** An object as lines of YAML, each with the field that it is about and a mark that a caller gives. */
import type { Json, JsonObject } from "../api/types";
import type { Step } from "./fieldpath";
import { isObject } from "./merge";

export interface Line<M> {
  text: string;
  path: Step[];
  mark: M;
}

/** Marks descend with the value: `step` gives the mark of a field from that of the object around it. */
export interface Marker<M> {
  step: (mark: M, step: Step, value: Json) => M;
}

function scalar(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const plain =
    /^[A-Za-z_/][A-Za-z0-9_./()@+ =,-]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n|~)$/i.test(value) &&
    !value.endsWith(" ");
  return plain ? value : JSON.stringify(value);
}

function keyText(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_./-]*$/.test(key) ? key : JSON.stringify(key);
}

function isShort(value: Json): boolean {
  return !(isObject(value) && Object.keys(value).length > 0) && !(Array.isArray(value) && value.length > 0);
}

export function writeLines<M>(value: Json, mark: M, marker: Marker<M>): Line<M>[] {
  const found: Line<M>[] = [];
  const put = (text: string, path: Step[], own: M): void => void found.push({ text, path, mark: own });
  const write = (here: Json, path: Step[], indent: string, own: M, lead: string): void => {
    if (typeof here === "string" && here.includes("\n")) {
      put(`${lead}|`, path, own);
      for (const line of here.replace(/\n$/, "").split("\n")) put(`${indent}${line}`, path, own);
    } else if (isShort(here)) put(`${lead}${scalar(here)}`, path, own);
    else if (Array.isArray(here)) {
      if (lead.trim() !== "") put(lead.trimEnd(), path, own);
      here.forEach((item, index) => {
        const next = marker.step(own, index, item);
        if (isObject(item) && Object.keys(item).length > 0)
          writeObject(item, [...path, index], `${indent}  `, next, `${indent}- `);
        else write(item, [...path, index], `${indent}  `, next, `${indent}- `);
      });
    } else if (isObject(here)) {
      if (lead.trim() !== "") put(lead.trimEnd(), path, own);
      writeObject(here, path, indent, own, indent);
    }
  };
  const writeObject = (here: JsonObject, path: Step[], indent: string, own: M, first: string): void => {
    Object.entries(here).forEach(([name, item], index) => {
      const next = marker.step(own, name, item);
      const lead = `${index === 0 ? first : indent}${keyText(name)}: `;
      const inner = Array.isArray(item) ? indent : `${indent}  `;
      write(item, [...path, name], inner, next, lead);
    });
  };
  write(value, [], "", mark, "");
  return found;
}
