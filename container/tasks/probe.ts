import { REPORT_PROBES_BYTES_MAX } from "../../src/contract/report.ts"
import { probeTaskDefinition } from "../../src/contract/tasks/probe.ts"
import type { ProbeTaskResult, ProbeWork } from "../../src/contract/tasks/probe.ts"
import { createCallerFailure } from "../task-failure.ts"
import { inputDamageWarning, findInputDamageLine } from "../tools/ffmpeg/input-damage.ts"
import { shortenProbeResult } from "../tools/ffmpeg/shorten-probe.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"
import { downloadSingleInput, probeSingleInput } from "./single-input.ts"
import { unlink } from "node:fs/promises"
import { requireFreeDiskBytes } from "../sandbox/disk-sizes.ts"
import { buildWorkspacePath } from "../sandbox/workspace.ts"
import { probeFile } from "../tools/ffmpeg/probe-file.ts"
import type { ProbeRun } from "../tools/ffmpeg/probe-file.ts"
import { explainUnreadableFile, isFileIntendedAsMedia } from "../tools/ffmpeg/unreadable-inputs.ts"
import { mediaTypeConverter } from "../tools/media-types.ts"
import { NOT_MEDIA_WARNING } from "../../src/contract/warning.ts"
import { supportsOnDemandFileReads } from "../sandbox/watched-reads.ts"
import { createPartialInputFile } from "../transfer/partial-file.ts"

export const probeTaskHandler = { definition: probeTaskDefinition, run: runProbeTask }

/**
 * Runs a probe task: probes the only input by ffprobe. The task fails if the input is unreadable
 * media, unless the probe is optional. A file that is not meant to be media, such as a text file,
 * gives a result without a probe.
 */
async function runProbeTask(
  context: RunContext,
  work: ProbeWork,
): Promise<TaskOutcome<ProbeTaskResult>> {
  const probed =
    (await probeWithoutFullDownload(context)) ??
    (await probeSingleInput(context, await downloadSingleInput(context, "A probe")))
  if ("probe" in probed) {
    const line = findInputDamageLine(probed.complaints, [probed.probe.format_name])
    const warnings = line === null ? [] : [inputDamageWarning(null, line)]
    const probe = shortenProbeResult(probed.probe, REPORT_PROBES_BYTES_MAX)
    return { result: { kind: "probe", probe, warnings } }
  }
  if (!isFileIntendedAsMedia(probed.head, mediaTypeOf(context))) {
    // Adds no warning if the probe is optional, because the input of a command may be data other
    // than media.
    return { result: { kind: "probe", warnings: work.is_optional ? [] : [NOT_MEDIA_WARNING] } }
  }
  const { lines } = probed
  const message = explainUnreadableFile(probed)
  if (!work.is_optional) return createCallerFailure("probe_failed", message, lines)
  return { result: { kind: "probe", probe_error: message, probe_lines: lines.join("\n") } }
}

function mediaTypeOf({ order }: RunContext): string {
  const [input] = order.inputs
  return input?.content_type ?? mediaTypeConverter.getType(input?.name ?? "") ?? ""
}

/**
 * Minimum size, in bytes, of a file that is probed without a full download. The full download of a
 * smaller file takes no longer than the download of its start and end.
 */
const PARTIAL_PROBE_BYTES_MIN = 16 * 1024 ** 2

/**
 * Probes the only input of a task, and downloads only the parts that ffprobe reads. The start and
 * the end of the file are downloaded at once, and other parts when ffprobe reads them. The result
 * is the same as for the whole file. Returns null if the whole file has to be downloaded, because
 * the file is small, ffprobe reads too much of the file, or this system does not support downloads
 * on demand.
 */
async function probeWithoutFullDownload(context: RunContext): Promise<ProbeRun | null> {
  const { io, order, settings, status, taskSandbox, workspace } = context
  const [input] = order.inputs
  if (!input || input.size_bytes < PARTIAL_PROBE_BYTES_MIN) return null
  if (!supportsOnDemandFileReads(taskSandbox.sandbox)) return null
  status.phase = "downloading"
  requireFreeDiskBytes(workspace, input.size_bytes + settings.limits.diskReserveBytes)
  const stop = new AbortController()
  const signal = AbortSignal.any([context.signal, stop.signal])
  const path = buildWorkspacePath(workspace, input.name)
  const file = await createPartialInputFile({ io, signal }, input, path)
  try {
    status.phase = "working"
    const probed = await probeFile({
      tool: settings.toolPaths.ffprobe,
      taskSandbox,
      workspace,
      name: input.name,
      signal,
      reads: { file, onFailure: (error) => stop.abort(error) },
      onSpawn: () => markProcessStarted(context, "ffprobe"),
    })
    status.processingMs += Math.max(0, probed.wallMs - file.waitedMs())
    return file.wasRead() && probed.hasExited ? probed : null
  } catch (error) {
    context.signal.throwIfAborted()
    if (!stop.signal.aborted) throw error
    return null
  } finally {
    stop.abort()
    await file.close()
    await unlink(path)
  }
}
