import { chmodSync, createWriteStream, statSync, writeFileSync } from "node:fs"
import { link } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { groupInputsByFile } from "../../src/contract/task.ts"
import type { TaskInput } from "../../src/contract/task.ts"
import { RunnerError } from "../task-failure.ts"
import { isDiskFullError, requireFreeDiskBytes } from "../sandbox/disk-sizes.ts"
import { buildWorkspacePath } from "../sandbox/workspace.ts"
import type { TransferContext } from "./worker-client.ts"
import {
  mapWithConcurrency,
  retryWithBackoff,
  transferRetryPolicy,
} from "./concurrency-and-retry.ts"

const DOWNLOADS_AT_ONCE = 4
const READ_ONLY_MODE = 0o444
/**
 * Size up to which an input is buffered and written in one call, in bytes. For small inputs, one
 * call is faster than a stream.
 */
const SMALL_BYTES_MAX = 256 * 1024

/** Values of a task's run that the download of its inputs needs. */
type DownloadContext = TransferContext & {
  order: { inputs: readonly TaskInput[] }
  settings: { limits: { diskReserveBytes: number } }
  workspace: string
}

/**
 * Downloads the inputs of a task into its workspace, several inputs at the same time. A stored file
 * that several inputs refer to is downloaded once, and the other inputs become hard links to the
 * downloaded file. All inputs are read-only.
 */
export async function downloadInputs(context: DownloadContext): Promise<void> {
  const { io, order, settings, signal, workspace } = context
  const options = { limit: DOWNLOADS_AT_ONCE, signal }
  const groups = groupInputsByFile(order.inputs)
  await mapWithConcurrency(groups, options, async ([first, ...same], joint) => {
    if (!first) return
    const path = buildWorkspacePath(workspace, first.name)
    requireFreeDiskBytes(workspace, first.size_bytes + settings.limits.diskReserveBytes)
    await downloadInput({ io, signal: joint }, first, path)
    // Makes the file read-only, since a write to the file would change all inputs that are hard
    // links to the file.
    chmodSync(path, READ_ONLY_MODE)
    for (const { name } of same) await link(path, buildWorkspacePath(workspace, name))
  })
}

/**
 * Downloads an input to a path. If the connection breaks, the download resumes after the last
 * received byte.
 */
async function downloadInput(
  context: TransferContext,
  input: TaskInput,
  path: string,
): Promise<void> {
  try {
    await retryWithBackoff(transferRetryPolicy(context.signal), () =>
      resumeDownload(context, input, path),
    )
  } catch (error) {
    context.signal.throwIfAborted()
    if (isDiskFullError(error))
      throw new RunnerError("disk_full", "The disk is full.", { cause: error })
    const message = `The input ${input.key} could not be downloaded to the runner.`
    throw new RunnerError("input_failed", message, { cause: error })
  }
}

async function resumeDownload(
  { io, signal }: TransferContext,
  input: TaskInput,
  path: string,
): Promise<void> {
  const offset = sizeOf(path)
  // Stops if the connection broke after the last byte of the input, since nothing is left to
  // request.
  if (offset > 0 && offset === input.size_bytes) return
  const request = { headers: offset > 0 ? { range: `bytes=${offset}-` } : {}, signal }
  if (input.size_bytes <= SMALL_BYTES_MAX) {
    const response = await io.fetch(`/inputs/${input.key}`, request)
    writeFileSync(path, await response.bytes(), { flag: response.status === 206 ? "a" : "w" })
  } else {
    const answer = await io.read(`/inputs/${input.key}`, request)
    const flags = answer.statusCode === 206 ? "a" : "w"
    await pipeline(answer, createWriteStream(path, { flags }), { signal })
  }
  const size = sizeOf(path)
  if (size > input.size_bytes) {
    throw new RunnerError("input_failed", "The input is larger than the task says.")
  }
  // Throws an error that is not retried, since another attempt would not receive more bytes.
  if (size === offset && size < input.size_bytes) {
    throw new RunnerError("input_failed", "The input is smaller than the task says.")
  }
  if (size < input.size_bytes) throw new Error(`Only ${size} bytes arrived.`)
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
