import { downloadInput } from "../transfer.ts"
import type { Ending } from "../report.ts"
import { noteProcessStarted, processingSeconds } from "../run.ts"
import type { Run } from "../run.ts"
import { RunnerError } from "../runner-error.ts"
import { probeFile } from "../tools/ffprobe.ts"
import { pathIn } from "../workspace.ts"

/** Says what the one input is; a file that is no media fails for good. */
export async function runProbeTask(run: Run): Promise<Ending> {
  const [input] = run.order.inputs
  if (!input) throw new RunnerError("internal", "A probe has no input.")
  run.status.step = "downloading"
  await downloadInput(run, input, pathIn(run.workspace, input.name))
  run.status.step = "working"
  const probed = await probeFile({
    tool: run.settings.ffprobePath,
    jail: run.jail,
    workspace: run.workspace,
    name: input.name,
    signal: run.signal,
    onSpawn: () => noteProcessStarted(run, "ffprobe"),
  })
  run.status.processingMs += probed.wallMs
  const processing_seconds = processingSeconds(run.status)
  if ("probe" in probed) {
    return { kind: "finished", processing_seconds, outputs: [], probe: probed.probe }
  }
  const message = `This is not a media file that can be read: ${probed.reason}.`
  return {
    kind: "failed",
    blame: "caller",
    processing_seconds,
    failure: { code: "probe_failed", message, lines: probed.lines },
  }
}
