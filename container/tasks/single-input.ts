import { RunnerError } from "../task-failure.ts"
import { probeFile } from "../tools/ffmpeg/probe-file.ts"
import { downloadInputs } from "../transfer/download-inputs.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext } from "./run-context.ts"

/**
 * Downloads the only input of a task. Returns the file name of the input in the workspace. `what`
 * is the subject of the error sentence for a missing input, such as "A probe".
 */
export async function downloadSingleInput(context: RunContext, what: string): Promise<string> {
  const [input] = context.order.inputs
  if (!input) throw new RunnerError("internal", `${what} has no input.`)
  context.status.phase = "downloading"
  await downloadInputs(context)
  context.status.phase = "working"
  return input.name
}

/**
 * Probes the downloaded input by ffprobe, and records and reports that a tool has started to work
 * on the task.
 */
export async function probeSingleInput(
  context: RunContext,
  name: string,
): Promise<Awaited<ReturnType<typeof probeFile>>> {
  const { settings, signal, status, taskSandbox, workspace } = context
  const probed = await probeFile({
    tool: settings.toolPaths.ffprobe,
    taskSandbox,
    workspace,
    name,
    signal,
    onSpawn: () => markProcessStarted(context, "ffprobe"),
  })
  status.processingMs += probed.wallMs
  return probed
}
