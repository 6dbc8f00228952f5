import { availableParallelism } from "node:os"
import { join } from "node:path"
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin"
import { defineConfig } from "vitest/config"
import { LongestFirstSequencer } from "./test/support/longest-first.ts"
import { SKIP_SLOW_TESTS_VARIABLE } from "./test/support/wide.ts"

/** A machine that is busy with something else is slow, and no test is about that. */
const TEST_TIMEOUT_MS = 120_000
const SYSTEM_TEST_TIMEOUT_MS = 240_000
const PATIENCE = { poll: { timeout: 60_000 } }
/**
 * Files of tests that run at once; two thirds of their time they wait, for processes and for
 * timers.
 */
const FILES_AT_ONCE = 2 * availableParallelism() + 1

/** Files of tests that do not run, in any project. */
const EXCLUDED = process.env[SKIP_SLOW_TESTS_VARIABLE] === "true" ? ["test/**/*.slow.*"] : []

/** Files of tests, and whether each has a process of workerd of its own. */
type Files = { include: string[]; exclude?: string[]; isOfOwnProcess?: boolean }

/** They count what the whole process does, which files before them would add to. */
const COUNTING = [
  "test/api/output/lists.worker.test.ts",
  "test/bindings/metrics.worker.test.ts",
  "test/runner/container-idle.worker.test.ts",
  "test/db/trips.worker.test.ts",
]

/** Tests of the Worker, in workerd, with every binding of wrangler.toml emulated. */
async function workerProject(name: string, databases: number, files: Files) {
  const names = ["DB", "DB_2", "DB_3", "DB_4"].slice(0, databases)
  return {
    plugins: [
      cloudflareTest({
        wrangler: { configPath: "./wrangler.toml" },
        miniflare: {
          d1Databases: Object.fromEntries(names.map((id) => [id, { id }])),
          // Nothing leaves the machine: webhooks and tasks of these tests meet a dead end.
          outboundService: () => new Response("there is no network in tests", { status: 502 }),
          bindings: {
            DATABASES: String(databases),
            // Nothing listens there: jobs wait, and the tests of real work start the service.
            RUNNER_ORIGIN: "http://127.0.0.1:9",
            TRIAL_FILE_BYTES_MAX: String(30 * 1024 * 1024),
            PAID_REQUESTS_PER_MINUTE: "5",
            OBJECT_CACHE_SECONDS: "0",
            LATHE_SECRET: "a-secret-that-only-the-tests-know-of",
            OPERATOR_TOKEN: "an-operator-token-for-the-tests-only",
            LOG_LEVEL: "warn",
            TEST_MIGRATIONS: await readD1Migrations(join(import.meta.dirname, "migrations")),
          },
        },
      }),
    ],
    test: {
      name,
      testTimeout: TEST_TIMEOUT_MS,
      hookTimeout: TEST_TIMEOUT_MS,
      expect: PATIENCE,
      include: files.include,
      exclude: [...(files.exclude ?? []), ...EXCLUDED],
      isolate: files.isOfOwnProcess ?? false,
      setupFiles: ["./test/support/db/apply-migrations.ts"],
    },
  }
}

/** Services know nothing of their ffmpeg, so that what fails at the run can be seen to. */
const ENVIRONMENT = { FFMPEG_FACTS: "none" }

/** Tests of everything that is, or can be, plain Node. */
const nodeProject = {
  test: {
    name: "node",
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    expect: PATIENCE,
    pool: "forks" as const,
    include: ["test/**/*.test.ts"],
    exclude: [
      "test/**/*.worker.test.ts",
      "test/{api/openapi,browser,cloudflare,image,system}/**",
      ...EXCLUDED,
    ],
    setupFiles: ["./test/support/runner/own-tool-users.ts"],
    env: ENVIRONMENT,
  },
}

/** Tests that start the whole service as a person would. */
const systemProject = {
  test: {
    name: "system",
    pool: "forks" as const,
    include: ["test/{api/openapi,browser,cloudflare,system}/**/*.test.ts"],
    exclude: ["test/**/*.worker.test.ts", ...EXCLUDED],
    setupFiles: ["./test/support/runner/own-tool-users.ts"],
    env: ENVIRONMENT,
    testTimeout: SYSTEM_TEST_TIMEOUT_MS,
    hookTimeout: SYSTEM_TEST_TIMEOUT_MS,
    expect: PATIENCE,
  },
}

export default defineConfig(async () => ({
  test: {
    projects: [
      await workerProject("worker", 1, {
        include: ["test/**/!(*.spread).worker.test.ts"],
        exclude: COUNTING,
      }),
      await workerProject("counting", 1, { include: COUNTING, isOfOwnProcess: true }),
      await workerProject("spread", 4, { include: ["test/**/*.spread.worker.test.ts"] }),
      nodeProject,
      systemProject,
    ],
    maxWorkers: FILES_AT_ONCE,
    sequence: { sequencer: LongestFirstSequencer },
  },
}))
