import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { probeFile } from "../../container/tools/ffprobe.ts"

it("does not take an ffprobe that was killed for a file that is no media", async () => {
  const workspace = await mkdtemp(join(tmpdir(), "lathe-probe-"))
  onTestFinished(async () => await rm(workspace, { recursive: true }))
  const tool = join(workspace, "ffprobe")
  await writeFile(tool, "#!/bin/sh\nkill -KILL $$\n", { mode: 0o700 })
  const { signal } = new AbortController()
  await expect(probeFile({ tool, workspace, name: "any.mp4", signal })).rejects.toThrow("SIGKILL")
})
