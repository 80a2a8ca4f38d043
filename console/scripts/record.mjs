// Write assets/manifest.json: the digest of the sources that the assets were built from, and the digest of each asset.
// tests/console/fresh.py computes the same digests without Node.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const assets = join(root, "../src/podless/console/assets");
const SOURCES = [
  "src",
  "public",
  "scripts",
  "index.html",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "vite.config.ts",
];

function list(path) {
  return statSync(path).isDirectory() ? readdirSync(path).flatMap((name) => list(join(path, name))) : [path];
}

const digest = (data) => createHash("sha256").update(data).digest("hex");
const name = (base, path) => relative(base, path).replaceAll("\\", "/");
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const files = SOURCES.flatMap((source) => list(join(root, source))).sort((a, b) =>
  compare(name(root, a), name(root, b)),
);
const sources = digest(files.map((file) => `${name(root, file)} ${digest(readFileSync(file))}\n`).join(""));
const built = list(assets).filter((file) => !file.endsWith("manifest.json"));
const entries = built
  .map((file) => [name(assets, file), digest(readFileSync(file))])
  .sort((a, b) => compare(a[0], b[0]));
writeFileSync(
  join(assets, "manifest.json"),
  `${JSON.stringify({ sources, files: Object.fromEntries(entries) }, null, 1)}\n`,
);
