import { defineConfig } from "vitest/config"
import { CountsReporter } from "./test/kit/CountsReporter.ts"

/** Vitest does not read this file by its name: it is passed with `--config`. */
export default defineConfig({
  test: {
    reporters: ["default", new CountsReporter()],
    globalSetup: ["./test/kit/Home.ts"],
    // Most of the time of the slow files is spent waiting for programs: more of them than cores are run at once.
    maxWorkers: 4,
    projects: [
      { extends: true, test: { name: "unit", include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts"] } },
      { extends: true, test: { name: "e2e", include: ["test/*.test.ts", "test/e2e/**/*.test.ts", "test/kit/**/*.test.ts"], testTimeout: 30_000 } },
      { extends: true, test: { name: "system", include: ["test/system/**/*.test.ts"], testTimeout: 240_000, fileParallelism: false } }
    ]
  }
})
