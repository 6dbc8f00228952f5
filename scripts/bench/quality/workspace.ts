import { chooseSandbox } from "../../../container/sandbox/choose.ts"
import { closeTaskSandbox, openTaskSandbox } from "../../../container/sandbox/task-sandbox.ts"
import { makeWorkspace } from "../../../container/sandbox/workspace.ts"
import { makeSettings, readEnvironment } from "../../../container/settings.ts"
import type { MeasureContext } from "../../../container/tasks/render/compare-place.ts"
import { tools } from "../media.ts"
import type { BenchScope } from "../scope.ts"

/** A workspace with the sandbox of a task, as a run measures with. */
export async function openMeasureContext(scope: BenchScope): Promise<MeasureContext> {
  const environment = readEnvironment({ FFMPEG_PATH: tools.ffmpeg, FFPROBE_PATH: tools.ffprobe })
  const settings = { ...makeSettings(environment), workDir: await scope.makeFolder() }
  const { sandbox } = await chooseSandbox(settings)
  if (!sandbox) throw new Error("there is no sandbox")
  const taskSandbox = openTaskSandbox(sandbox)
  const ids = { task_id: crypto.randomUUID(), job_id: crypto.randomUUID(), fence: 1 }
  const run = { taskId: ids.task_id, jobId: ids.job_id, fence: ids.fence }
  const workspace = await makeWorkspace(settings.workDir, run, taskSandbox.uid)
  scope.defer(() => closeTaskSandbox(taskSandbox, workspace))
  const { signal } = scope
  const state = {
    state: "running",
    phase: "working",
    requestId: null,
    processStartedAt: null,
  } as const
  const status = { ...run, ...state, processingMs: 0 }
  const io = { origin: "http://127.0.0.1:1", token: "none" }
  const work = { kind: "render", outputs: [] }
  const order = { ...ids, slot: "bench", allocation: 1, io, inputs: [], work }
  return { order, settings, status, workspace, taskSandbox, signal }
}
