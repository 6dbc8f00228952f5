import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { chooseSandbox } from "../../../../container/sandbox/tiers/choose-sandbox.ts"
import {
  destroyTaskSandbox,
  createTaskSandbox,
} from "../../../../container/sandbox/task-sandbox.ts"
import { startToolProcess } from "../../../../container/sandbox/start-process.ts"
import { createWorkspace } from "../../../../container/sandbox/workspace.ts"
import {
  findYtdlpInstallation,
  getYtdlpToolGrants,
} from "../../../../container/tools/ytdlp/ytdlp-environment.ts"
import { FETCH_PYTHON_PATH } from "../../../../scripts/setup/yt-dlp.ts"
import { makeTestRunnerSettings } from "../../../support/runner/runner-settings.ts"

test("yt-dlp runs a site's JavaScript in Node inside the sandbox, with its own scripts", async () => {
  const settings = makeTestRunnerSettings({ FETCH_PYTHON_PATH })
  const { sandbox } = await chooseSandbox(settings)
  const ytdlp = findYtdlpInstallation(settings)
  if (!sandbox || !ytdlp) throw new Error("There is no sandbox, or no yt-dlp.")
  const workDir = await mkdtemp(join(tmpdir(), "lathe-test-"))
  const taskSandbox = createTaskSandbox(sandbox)
  const workspace = await createWorkspace(workDir, { taskId: "a", fence: 1 }, taskSandbox.uid)
  const grants = getYtdlpToolGrants(ytdlp)
  const { finished } = startToolProcess({
    tool: ytdlp.python,
    argv: ["-I", "-S", "-B", join(import.meta.dirname, "challenge.py")],
    stdin: JSON.stringify({
      mode: "metadata",
      quality: "best",
      proxy: "http://127.0.0.1:3128",
      driver: join(import.meta.dirname, "../../../../container/tools/ytdlp/driver"),
      packages: ytdlp.packages,
      ...ytdlp.programs,
    }),
    taskSandbox,
    cwd: workspace,
    access: "write",
    ...grants,
    read: [...(grants.read ?? []), import.meta.dirname],
    timeLimitMs: 20_000,
    stdoutBytesMax: 4096,
    signal: new AbortController().signal,
  })
  const { stdout, stderrTail } = await finished
  await destroyTaskSandbox(taskSandbox, workspace)
  await rm(workDir, { recursive: true })
  expect(stderrTail).toBe("")
  expect(JSON.parse(stdout)).toEqual({
    answers: [{ abc: "cba", xyz: "zyx" }],
    remote: [],
    script: "ScriptSource.PYPACKAGE",
  })
})
