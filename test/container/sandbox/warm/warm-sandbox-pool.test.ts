import { chmod, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createTierSandbox } from "../../../../container/sandbox/tiers/choose-sandbox.ts"
import { createWarmSandboxPool } from "../../../../container/sandbox/warm/warm-sandbox-pool.ts"
import type { WarmSandboxPool } from "../../../../container/sandbox/warm/warm-sandbox-pool.ts"
import type { TaskSandbox } from "../../../../container/sandbox/sandbox.ts"
import { destroyTaskSandbox } from "../../../../container/sandbox/task-sandbox.ts"
import { makeTestRunnerSettings } from "../../../support/runner/runner-settings.ts"
import { findTierWithNamespaces } from "../../../support/runner/supported-tiers.ts"

const tier = await findTierWithNamespaces()
const PATIENT = { timeout: 60_000 }
const settings = { ...makeTestRunnerSettings(), warmSandboxesMax: 2 }
const POOLS = 2

let workDir: string
let places: WarmSandboxPool

beforeEach(async ({ skip }) => {
  skip(tier === undefined, "this machine does not support namespaces")
  workDir = await mkdtemp(join(tmpdir(), "lathe-places-"))
  await chmod(workDir, 0o711)
  places = createWarmSandboxPool({ ...settings, workDir })
  places.open(createTierSandbox(tier ?? "none", settings))
})

afterEach(async () => {
  if (tier === undefined) return
  await places.close()
  await rm(workDir, { recursive: true })
})

function take(pool: string): TaskSandbox {
  const taken = places.take(pool)
  if (taken === null) throw new Error("No place is ready.")
  return taken
}

test("each pool has one warm sandbox until its first task", async () => {
  await expect.poll(() => readdir(workDir), PATIENT).toHaveLength(POOLS)
  for (const pool of ["light", "media"]) {
    await destroyTaskSandbox(await vi.waitFor(() => take(pool), PATIENT), null)
  }
  await expect.poll(() => readdir(workDir), PATIENT).toHaveLength(POOLS * settings.warmSandboxesMax)
})

test("each pool is refilled during and after tasks", async () => {
  const taken = [
    await vi.waitFor(() => take("light"), PATIENT),
    await vi.waitFor(() => take("media"), PATIENT),
    await vi.waitFor(() => take("media"), PATIENT),
  ]
  const full = POOLS * settings.warmSandboxesMax
  await expect.poll(() => readdir(workDir), PATIENT).toHaveLength(full + taken.length)
  await Promise.all(taken.map((each) => destroyTaskSandbox(each, null)))
  const ended = take("light")
  await destroyTaskSandbox(ended, null)
  await expect.poll(() => readdir(workDir), PATIENT).toHaveLength(full)
  expect(await readdir(workDir)).not.toContain(ended.warmSandbox?.folder.split("/").at(-1))
})

test("a pool without warm sandboxes returns null", () => {
  expect(places.take("speech")).toBe(null)
})
