import { chmodSync, createWriteStream, statSync, writeFileSync } from "node:fs"
import { link } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { groupInputs } from "../../src/contract/task.ts"
import type { TaskInput } from "../../src/contract/task.ts"
import { RunnerError } from "../failures.ts"
import { isFullError, requireFreeBytes } from "../sandbox/free-space.ts"
import { pathIn } from "../sandbox/workspace.ts"
import type { TransferContext } from "./io-client.ts"
import { mapWithConcurrency, retry, transferRetryPolicy } from "./promises.ts"

const DOWNLOADS_AT_ONCE = 4
const READ_ONLY_MODE = 0o444
/** An input up to this size comes as a whole and is written at once, which spares most of the work. */
const SMALL_BYTES_MAX = 256 * 1024

/** What the inputs of a task are downloaded for. */
type DownloadContext = TransferContext & {
  order: { inputs: readonly TaskInput[] }
  settings: { limits: { diskReserveBytes: number } }
  workspace: string
}

/**
 * Downloads the inputs of a task into its workspace, several at a time. A file that several inputs
 * name is downloaded once; the others are hard links to it, and none of them can be written to.
 */
export async function downloadInputs(context: DownloadContext): Promise<void> {
  const { io, order, settings, signal, workspace } = context
  const options = { limit: DOWNLOADS_AT_ONCE, signal }
  await mapWithConcurrency(groupInputs(order.inputs), options, async ([first, ...same], joint) => {
    if (!first) return
    const path = pathIn(workspace, first.name)
    requireFreeBytes(workspace, first.size_bytes + settings.limits.diskReserveBytes)
    await downloadInput({ io, signal: joint }, first, path)
    // A write through one name would be seen through the others.
    chmodSync(path, READ_ONLY_MODE)
    for (const { name } of same) await link(path, pathIn(workspace, name))
  })
}

/** Downloads an input to a path; after a broken connection it resumes behind the last byte. */
async function downloadInput(
  context: TransferContext,
  input: TaskInput,
  path: string,
): Promise<void> {
  try {
    await retry(transferRetryPolicy(context.signal), () => resumeDownload(context, input, path))
  } catch (error) {
    context.signal.throwIfAborted()
    if (isFullError(error))
      throw new RunnerError("disk_full", "The disk is full.", { cause: error })
    const message = `The input ${input.key} could not be brought to the runner.`
    throw new RunnerError("input_failed", message, { cause: error })
  }
}

async function resumeDownload(
  { io, signal }: TransferContext,
  input: TaskInput,
  path: string,
): Promise<void> {
  const offset = sizeOf(path)
  // The connection may have broken behind the last byte, where no range is left to ask for.
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
  // Another attempt would get no more of it.
  if (size === offset && size < input.size_bytes) {
    throw new RunnerError("input_failed", "The input is smaller than the task says.")
  }
  if (size < input.size_bytes) throw new Error(`Only ${size} bytes arrived.`)
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
