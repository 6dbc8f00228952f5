import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { CliError } from "../cli-error.ts"
import { isSystemError } from "../system-error.ts"
import type { FrontOptions } from "./front.ts"

/**
 * Starts the front in a thread of its own: beside Miniflare, whose heap is large, collecting the
 * garbage of passing bytes on took longer than that itself. Throws a CliError where the front
 * cannot listen.
 */
export async function startFront(options: FrontOptions): Promise<AsyncDisposable> {
  const thread = new Worker(new URL("thread.ts", import.meta.url), { workerData: options })
  try {
    await once(thread, "message")
  } catch (error) {
    throw cannotListen(options, error)
  }
  return { [Symbol.asyncDispose]: async () => void (await thread.terminate()) }
}

function cannotListen({ host, port }: FrontOptions, error: unknown): CliError {
  const why = isSystemError(error, "EADDRINUSE") ? "something else listens there" : String(error)
  const sentence = `Lathe cannot listen on port ${port} of ${host}: ${why}; set PORT to another one.`
  return new CliError(sentence, { cause: error })
}
