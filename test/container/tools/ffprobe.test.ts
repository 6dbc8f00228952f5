import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { describeSandbox } from "../../../container/sandbox/choose.ts"
import { runnerSandbox } from "../../../container/sandbox/sandbox.ts"
import { makeSettings, readEnvironment } from "../../../container/settings.ts"
import { probeFile } from "../../../container/tools/ffprobe.ts"

it("does not take an ffprobe that was killed for a file that is no media", async () => {
  const workspace = await mkdtemp(join(tmpdir(), "lathe-probe-"))
  onTestFinished(async () => await rm(workspace, { recursive: true }))
  const tool = join(workspace, "ffprobe")
  await writeFile(tool, "#!/bin/sh\nkill -KILL $$\n", { mode: 0o700 })
  const { signal } = new AbortController()
  // A sandbox would refuse to run a script in place of ffprobe.
  const taskSandbox = runnerSandbox(describeSandbox("none", makeSettings(readEnvironment({}))))
  const probing = probeFile({ tool, taskSandbox, workspace, name: "any.mp4", signal })
  await expect(probing).rejects.toThrow("SIGKILL")
})
