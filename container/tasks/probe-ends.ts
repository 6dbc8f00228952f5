import { unlink } from "node:fs/promises"
import { requireFreeBytes } from "../sandbox/free-space.ts"
import { pathIn } from "../sandbox/workspace.ts"
import { probeFile } from "../tools/ffprobe.ts"
import type { Probed } from "../tools/ffprobe.ts"
import { canWatchReads } from "../sandbox/watched-reads.ts"
import { openPartialFile } from "../transfer/partial-file.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext } from "./run-context.ts"

/** A file below this is brought as fast as its ends are. */
const ENDS_BYTES_MIN = 16 * 1024 ** 2

/**
 * Probes the one input of a task by what ffprobe reads of it: its head and its tail are brought
 * ahead, and other parts when they are read, so that all is found that is in the whole file. Null
 * where the whole is needed: the file is small, or too much of it is read, or reads are not watched.
 */
export async function probeByEnds(context: RunContext): Promise<Probed | null> {
  const { io, order, settings, status, taskSandbox, workspace } = context
  const [input] = order.inputs
  if (!input || input.size_bytes < ENDS_BYTES_MIN) return null
  if (!canWatchReads(taskSandbox.sandbox)) return null
  status.phase = "downloading"
  requireFreeBytes(workspace, input.size_bytes + settings.limits.diskReserveBytes)
  const stop = new AbortController()
  const signal = AbortSignal.any([context.signal, stop.signal])
  const path = pathIn(workspace, input.name)
  const file = await openPartialFile({ io, signal }, input, path)
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
    return file.wasAsked() && probed.hasExited ? probed : null
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
