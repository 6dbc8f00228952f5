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
  const { why, remedy } = explain(error)
  const sentence = `Lathe cannot listen on port ${port} of ${host}: ${why}; ${remedy}.`
  return new CliError(sentence, { cause: error })
}

function explain(error: unknown): { why: string; remedy: string } {
  if (isSystemError(error, "EADDRINUSE")) {
    return { why: "something else listens there", remedy: "set PORT to another one" }
  }
  if (isSystemError(error, "EACCES")) {
    return { why: "this user may not", remedy: "set PORT to one above 1023" }
  }
  const isElsewhere = isSystemError(error, "EADDRNOTAVAIL") || isSystemError(error, "EAFNOSUPPORT")
  const why = isElsewhere ? "this machine has no such address" : String(error)
  return { why, remedy: "set HOST to an address of this machine" }
}
