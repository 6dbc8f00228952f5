import { chmod, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { chooseSandboxWithRetries } from "../../../../container/sandbox/tiers/retry-sandbox.ts"
import { findProgram } from "../../../../container/sandbox/system-paths.ts"
import { makeTestRunnerSettings } from "../../../support/runner/runner-settings.ts"
import { listSupportedTiers } from "../../../support/runner/supported-tiers.ts"

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-test-"))
  await chmod(folder, 0o755)
})

afterEach(() => rm(folder, { recursive: true }))

/** Returns settings whose ffmpeg is missing until it is linked. */
function settingsWithoutFfmpeg(selfTestsMax: number) {
  const settings = makeTestRunnerSettings({
    WORK_DIR: join(folder, "work"),
    FFMPEG_PATH: join(folder, "ffmpeg"),
  })
  return { ...settings, selfTestsMax }
}

test("a sandbox that failed its self-test is tested again until it passes", async ({ skip }) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  const latest = chooseSandboxWithRetries(settingsWithoutFfmpeg(Number.POSITIVE_INFINITY), () => {
    throw new Error("it gave up")
  })
  expect(await latest()).toMatchObject({ sandbox: null, test: { ok: false, supported: true } })
  await symlink(findProgram("ffmpeg"), join(folder, "ffmpeg"))
  await expect.poll(latest).toMatchObject({ test: { ok: true } })
})

test("a runner reports its failure once after the maximum of self-tests", async ({ skip }) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  let givenUp = 0
  const latest = chooseSandboxWithRetries(settingsWithoutFfmpeg(2), () => {
    givenUp += 1
  })
  expect(await latest()).toMatchObject({ sandbox: null })
  await expect.poll(() => givenUp).toBe(1)
  await symlink(findProgram("ffmpeg"), join(folder, "ffmpeg"))
  expect(await latest()).toMatchObject({ sandbox: null })
})
