import { defineConfig } from "vite";

// Two builds into one folder: the studio, split as the bundler likes, and the report, whose one
// script and one style the Python side puts into the page itself.
export default defineConfig(({ mode }) => {
  const isReport = mode === "report";
  return {
    base: "./",
    build: {
      outDir: "../src/handwright/studio/page",
      emptyOutDir: !isReport,
      // A report is opened from disk, so its fonts are inside; the studio's policy allows no data.
      assetsInlineLimit: isReport ? Number.MAX_SAFE_INTEGER : 0,
      chunkSizeWarningLimit: 1200,
      modulePreload: { polyfill: false },
      license: { fileName: isReport ? "licenses-report.md" : "licenses.md" },
      rolldownOptions: {
        input: isReport ? "report.html" : "index.html",
        output: isReport
          ? {
              codeSplitting: false,
              entryFileNames: "assets/report.js",
              assetFileNames: "assets/report[extname]",
            }
          : {},
      },
    },
    server: { proxy: { "/api": { target: "http://127.0.0.1:8765", ws: true } } },
  };
});
