import { RunnerError } from "../failures.ts"
import { probeFile } from "../tools/ffprobe.ts"
import { downloadInputs } from "../transfer/download.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext } from "./run-context.ts"

/**
 * Downloads the input of a task that has one; answers its name in the workspace. `what` begins the
 * sentence for one that has none, such as "A probe".
 */
export async function downloadInput(context: RunContext, what: string): Promise<string> {
  const [input] = context.order.inputs
  if (!input) throw new RunnerError("internal", `${what} has no input.`)
  context.status.phase = "downloading"
  await downloadInputs(context)
  context.status.phase = "working"
  return input.name
}

/** Reads what an input is, as the beginning of its task's own work. */
export async function probeInput(
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
