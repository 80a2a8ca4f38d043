import preact from "@preact/preset-vite";
import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "/console/",
  plugins: [preact({ prefreshEnabled: false })],
  build: {
    outDir: "../src/podless/console/assets",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 900,
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/apis", "/openapi", "/metrics", "/readyz", "/version"].map((path) => [
        path,
        { target: process.env["PODLESS_URL"] ?? "https://127.0.0.1:6443", secure: false },
      ]),
    ),
  },
  test: { include: ["tests/**/*.test.ts"], environment: "happy-dom" },
});
