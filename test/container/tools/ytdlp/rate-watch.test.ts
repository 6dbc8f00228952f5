import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { DOWNLOAD_RATE_LIMITS } from "../../../../container/egress/download-rate-limits.ts"
import { chooseSandbox } from "../../../../container/sandbox/tiers/choose-sandbox.ts"
import {
  destroyTaskSandbox,
  createTaskSandbox,
} from "../../../../container/sandbox/task-sandbox.ts"
import { createWorkspace } from "../../../../container/sandbox/workspace.ts"
import { queryPage } from "../../../../container/tools/ytdlp/query-page.ts"
import { watchDownloadRate } from "../../../../container/tools/ytdlp/run-ytdlp.ts"
import { FETCH_PYTHON_PATH } from "../../../../scripts/setup/yt-dlp.ts"
import { startTestSite } from "../../../support/site/site.ts"
import { makeTestRunnerSettings } from "../../../support/runner/runner-settings.ts"

test("a very slow download fails as too slow", async () => {
  await using site = await startTestSite()
  const settings = makeTestRunnerSettings({ FETCH_PYTHON_PATH, ALLOWED_PRIVATE_HOSTS: site.host })
  const { sandbox } = await chooseSandbox(settings)
  if (!sandbox) throw new Error("There is no sandbox.")
  const workDir = await mkdtemp(join(tmpdir(), "lathe-test-"))
  const taskSandbox = createTaskSandbox(sandbox)
  const workspace = await createWorkspace(workDir, { taskId: "a", fence: 1 }, taskSandbox.uid)
  const { signal } = new AbortController()
  const status = { processingMs: 0 }
  const url = site.url("/page/slow")
  const job = { url, mode: "download", quality: "best", subtitles: [], bytesMax: 1e9 } as const
  const answer = await queryPage(
    { order: {}, settings, status, workspace, taskSandbox, signal },
    { job, timeLimitMs: 60_000, onSpawn: () => undefined },
    { slowMs: 1000, bytesPerSecondMin: 20_000, stallMs: 1000 },
  )
  await destroyTaskSandbox(taskSandbox, workspace)
  await rm(workDir, { recursive: true })
  const message = expect.stringMatching(/^The site sends only \d+ bytes a second, .*\.$/)
  expect(answer).toMatchObject({ blame: "caller", failure: { code: "too_slow", message } })
})

describe("a download through a proxy", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** Watches a proxy for some seconds; `at` returns the bytes that arrive in each second. */
  function rateAfter(seconds: number, at: (second: number) => { bytes: number; isOpen?: boolean }) {
    let received = 0
    let now = at(0)
    using watch = watchDownloadRate(
      { received: () => received, isOpen: () => now.isOpen ?? true },
      DOWNLOAD_RATE_LIMITS,
    )
    for (let second = 0; second < seconds; second += 1) {
      now = at(second)
      received += now.bytes
      vi.advanceTimersByTime(1000)
    }
    expect(watch.signal.aborted).toBe(watch.slowRate() !== null)
    return watch.slowRate()
  }

  test("is too slow after a minute of dripping", () => {
    expect(rateAfter(59, () => ({ bytes: 100 }))).toBe(null)
    expect(rateAfter(61, () => ({ bytes: 100 }))).toBe(100)
    expect(rateAfter(200, (second) => ({ bytes: second % 15 === 0 ? 150 : 0 }))).toBe(12)
    expect(rateAfter(300, () => ({ bytes: 2048 }))).toBe(null)
  })

  test("is not too slow without a connection, or with an unused one", () => {
    expect(rateAfter(300, () => ({ bytes: 1, isOpen: false }))).toBe(null)
    expect(rateAfter(300, (second) => ({ bytes: second < 5 ? 100 : 0 }))).toBe(null)
    expect(rateAfter(900, (second) => ({ bytes: second % 100 === 0 ? 65_536 : 0 }))).toBe(null)
  })
})
