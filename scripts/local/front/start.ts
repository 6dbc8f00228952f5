import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { BUILT } from "../built.ts"
import { CliError } from "../cli-error.ts"
import { isSystemError } from "../system-error.ts"
import type { Front, FrontOptions } from "./front.ts"

/**
 * Starts the front in a thread of its own, so that nothing else of the start script is in its way.
 * Throws a CliError where the front cannot listen.
 */
export async function startFront(options: FrontOptions): Promise<Front & AsyncDisposable> {
  const thread = new Worker(BUILT.front, { workerData: options })
  try {
    await once(thread, "message")
  } catch (error) {
    throw cannotListen(options, error)
  }
  return {
    open: () => thread.postMessage("open"),
    [Symbol.asyncDispose]: async () => void (await thread.terminate()),
  }
}

function cannotListen({ host, port }: FrontOptions, error: unknown): CliError {
  const why = isSystemError(error, "EADDRINUSE") ? "something else listens there" : String(error)
  const sentence = `Lathe cannot listen on port ${port} of ${host}: ${why}; set PORT to another one.`
  return new CliError(sentence, { cause: error })
}
