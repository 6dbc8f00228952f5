import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { createTierSandbox } from "../../../../container/sandbox/tiers/choose-sandbox.ts"
import { createSandboxWithoutTask } from "../../../../container/sandbox/sandbox.ts"
import { toRunnerSettings, parseRunnerEnvironment } from "../../../../container/settings.ts"
import { probeFile } from "../../../../container/tools/ffmpeg/probe-file.ts"

it("reports a killed ffprobe as an error of the runner, not of the file", async () => {
  const workspace = await mkdtemp(join(tmpdir(), "lathe-probe-"))
  onTestFinished(async () => await rm(workspace, { recursive: true }))
  const tool = join(workspace, "ffprobe")
  await writeFile(tool, "#!/bin/sh\nkill -KILL $$\n", { mode: 0o700 })
  const { signal } = new AbortController()
  // A sandbox would refuse to run a script in place of ffprobe.
  const taskSandbox = createSandboxWithoutTask(
    createTierSandbox("none", toRunnerSettings(parseRunnerEnvironment({}))),
  )
  const probing = probeFile({ tool, taskSandbox, workspace, name: "any.mp4", signal })
  await expect(probing).rejects.toThrow("SIGKILL")
})
