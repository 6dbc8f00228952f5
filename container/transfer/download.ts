import { createWriteStream } from "node:fs"
import { stat } from "node:fs/promises"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { TaskInput } from "../../src/contract/task.ts"
import { RunnerError } from "../failures.ts"
import { pathIn } from "../sandbox/workspace.ts"
import type { TransferContext } from "./io-client.ts"
import { mapWithConcurrency, retry, transferRetryPolicy } from "./promises.ts"

const DOWNLOADS_AT_ONCE = 4

/** Downloads the inputs of a task into its workspace, several at a time. */
export async function downloadInputs({
  io,
  order,
  signal,
  workspace,
}: TransferContext & { order: { inputs: readonly TaskInput[] }; workspace: string }) {
  const options = { limit: DOWNLOADS_AT_ONCE, signal }
  await mapWithConcurrency(order.inputs, options, (input, joint) =>
    downloadInput({ io, signal: joint }, input, pathIn(workspace, input.name)),
  )
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
    const message = `The input ${input.key} could not be brought to the runner.`
    throw new RunnerError("input_failed", message, { cause: error })
  }
}

async function resumeDownload(
  { io, signal }: TransferContext,
  input: TaskInput,
  path: string,
): Promise<void> {
  const offset = await sizeOf(path)
  // The connection may have broken behind the last byte, where no range is left to ask for.
  if (offset > 0 && offset === input.size_bytes) return
  const response = await io.fetch(`/inputs/${input.key}`, {
    headers: offset > 0 ? { range: `bytes=${offset}-` } : {},
    signal,
  })
  const flags = response.status === 206 ? "a" : "w"
  const body = response.body ? Readable.fromWeb(response.body) : Readable.from([])
  await pipeline(body, createWriteStream(path, { flags }), { signal })
  const size = await sizeOf(path)
  if (size > input.size_bytes) {
    throw new RunnerError("input_failed", "The input is larger than the task says.")
  }
  if (size < input.size_bytes) throw new Error(`Only ${size} bytes arrived.`)
}

async function sizeOf(path: string): Promise<number> {
  const stats = await stat(path).catch(() => null)
  return stats?.size ?? 0
}
