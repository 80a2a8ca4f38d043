/** CustomResourceDefinitions, as far as the console shows them. */
import type { ApiObject } from "../api/types";
import { type Schema, Shape } from "./shape";

export interface Version {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  schema?: { openAPIV3Schema?: Schema };
  additionalPrinterColumns?: {
    name: string;
    type: string;
    jsonPath: string;
    description?: string;
    priority?: number;
  }[];
  subresources?: Record<string, unknown>;
  selectableFields?: { jsonPath: string }[];
}

export interface Definition extends ApiObject {
  spec: {
    group: string;
    scope: string;
    names: { plural: string; kind: string; shortNames?: string[]; categories?: string[] };
    conversion?: {
      strategy: string;
      webhook?: {
        conversionReviewVersions?: string[];
        clientConfig?: { url?: string; service?: { namespace: string; name: string } };
      };
    };
    versions: Version[];
  };
}

export function shapeOf(version: Version | undefined): Shape {
  const schema = version?.schema?.openAPIV3Schema ?? {};
  return new Shape(schema, {});
}
