/** JSON values, and the parts of Kubernetes' API that the console reads. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export interface Cause {
  field?: string;
  message?: string;
  reason?: string;
}

export interface Status {
  kind: "Status";
  status?: string;
  message?: string;
  reason?: string;
  code?: number;
  details?: { causes?: Cause[]; name?: string; kind?: string; group?: string };
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFields {
  manager: string;
  operation: string;
  apiVersion: string;
  time?: string;
  subresource?: string;
  fieldsV1?: JsonObject;
}

export interface Metadata {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFields[];
}

export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [name: string]: unknown;
}

export interface ListMeta {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
}

export interface ApiList<T = ApiObject> {
  metadata: ListMeta;
  items: T[];
}

export interface Column {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

export interface TableRow {
  cells: Json[];
  object?: { metadata: Metadata };
}

export interface Table {
  kind: "Table";
  metadata: ListMeta;
  columnDefinitions?: Column[];
  rows: TableRow[];
}

export interface WatchEvent<T> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T;
}

export const AS_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";
export const AS_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
