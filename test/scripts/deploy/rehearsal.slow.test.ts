import { execFile } from "node:child_process"
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { wideTest } from "../../support/wide-test.ts"

const CLONE = resolve(import.meta.dirname, "../../..")
const COPIED = [
  "container",
  "docs",
  "migrations",
  "package-lock.json",
  "package.json",
  "scripts",
  "src",
  "tsconfig.json",
  "wrangler.toml",
]

let copy: string
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "lathe-copy-"))
  for (const name of COPIED) cpSync(join(CLONE, name), join(copy, name), { recursive: true })
  symlinkSync(join(CLONE, "node_modules"), join(copy, "node_modules"))
})
afterEach(() => rmSync(copy, { recursive: true }))

test("a rehearsal needs no account and no network, and leaves the clone clean", async () => {
  const { exitCode, output } = await rehearse({
    LATHE_NAME: "cutter",
    RUNNER_INSTANCES: "4",
    RETENTION_DAY: "30",
    WRANGLER_DOCKER_BIN: join(import.meta.dirname, "docker-stand-in.sh"),
  })
  expect(output).toContain("Warning: RETENTION_DAY is no setting, and has no effect; did you mean")
  expect(output).toContain('cutter-media-runner ("standard-4", up to 6)')
  expect(output).toContain("cutter-jobs, cutter-webhooks, cutter-jobs-dead, cutter-webhooks-dead")
  expect(output).toContain("Database: cutter brought to the newest migration")
  expect(output).toContain("Worker: wrangler builds it and accepts its configuration")
  expect(output).toContain("The rehearsal succeeded.")
  expect(exitCode).toBe(0)
  expect(readdirSync(copy).toSorted()).toEqual(
    [".lathe", "dist", "node_modules", ...COPIED].toSorted(),
  )
  for (const name of ["wrangler.toml", "package.json"]) {
    expect(readFileSync(join(copy, name), "utf8")).toBe(readFileSync(join(CLONE, name), "utf8"))
  }
})

test("a rehearsal without Docker completes all other steps, reports that Docker is missing, and fails", async () => {
  const { exitCode, output } = await rehearse({})
  expect(output).toContain("Worker: wrangler builds it and accepts its configuration")
  expect(output).not.toContain("The rehearsal succeeded")
  expect(output.trimEnd().split("\n").slice(-2)).toEqual([
    "All other steps succeeded, but a deployment from this machine would stop. Missing:",
    expect.stringMatching(
      /^- Docker does not respond, and it builds the image of the runners: install/,
    ),
  ])
  expect(exitCode).toBe(1)
})

test("a rehearsal fails for a migration that does not apply", async () => {
  writeFileSync(join(copy, "migrations", "9999_twice.sql"), "CREATE TABLE jobs (id TEXT);\n")
  const { exitCode, output } = await rehearse({})
  expect(output).toContain("9999_twice.sql")
  expect(output).toContain("table jobs already exists")
  expect(exitCode).toBe(1)
})

wideTest("a rehearsal fails for a Worker that does not build", async () => {
  appendFileSync(join(copy, "src", "index.ts"), 'import "./missing.ts"\n')
  const { exitCode, output } = await rehearse({})
  expect(output).toContain("missing.ts")
  expect(exitCode).toBe(1)
})

wideTest("a rehearsal fails for an invalid setting", async () => {
  const { exitCode, output } = await rehearse({ FETCH_INSTANCES: "many" })
  expect(output).toContain('FETCH_INSTANCES is "many"')
  expect(exitCode).toBe(1)
})

async function rehearse(
  environment: Record<string, string>,
): Promise<{ exitCode: number; output: string }> {
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: copy,
    // Whoever is asked in spite of the promise does not answer.
    CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:9",
    WRANGLER_DOCKER_BIN: "/nonexistent/docker",
    XDG_CONFIG_HOME: join(copy, ".lathe"),
    ...environment,
  }
  const words = ["scripts/run", "deploy", "--dry-run"]
  return await new Promise((settle) => {
    const child = execFile("sh", words, { cwd: copy, env }, (_error, out, err) => {
      settle({ exitCode: child.exitCode ?? 1, output: out + err })
    })
  })
}
