import { defineConfig } from "vitest/config"
import { CountsReporter } from "./test/kit/CountsReporter.ts"

/** Where tests are, by project. */
export const testFiles = {
  unit: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts"],
  e2e: ["test/*.test.ts", "test/e2e/**/*.test.ts", "test/kit/**/*.test.ts"],
  system: ["test/system/**/*.test.ts"]
}

/** Vitest does not read this file by its name: it is passed with `--config`. */
export default defineConfig({
  test: {
    reporters: ["default", new CountsReporter()],
    globalSetup: ["./test/kit/Home.ts"],
    // Most of the time of the slow files is spent waiting for programs: more of them than cores are run at once.
    maxWorkers: 4,
    projects: [
      // Limits for what hangs, not for what is slow: machines are loaded, and many tests start programs.
      // Files share processes: loading Effect anew for each of 200 would take as long as a third of all tests.
      { extends: true, test: { name: "unit", include: testFiles.unit, testTimeout: 30_000, isolate: false } },
      { extends: true, test: { name: "e2e", include: testFiles.e2e, testTimeout: 60_000, isolate: false } },
      { extends: true, test: { name: "system", include: testFiles.system, testTimeout: 240_000, fileParallelism: false } }
    ]
  }
})
