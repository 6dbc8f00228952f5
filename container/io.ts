import { BOOT_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../src/contract/protocol.ts"
import type { TaskOrder } from "../src/contract/task.ts"
import { RunnerError } from "./runner-error.ts"

export type Call = {
  method?: "GET" | "PUT" | "POST"
  headers?: Record<string, string>
  body?: string | Blob
  signal: AbortSignal
}

/** The one door of a task to the Worker: its inputs, its outputs and its reports. */
export type Io = {
  /**
   * Makes one call; `path` begins with a slash. Answers of 2xx come back. 410 kills the run and
   * throws its reason; other 4xx throw a RunnerError, which is final; the rest throws an Error.
   */
  call(path: string, call: Call): Promise<Response>
}

const RETRIABLE = new Set([408, 425, 429])

/** Opens the door of one task; `kill` ends the run that the Worker no longer wants. */
export function openIo(order: TaskOrder, boot: string, kill: AbortController): Io {
  const headers = {
    authorization: `Bearer ${order.io.token}`,
    "accept-encoding": "identity",
    [PROTOCOL_HEADER]: PROTOCOL_VERSION,
    [BOOT_HEADER]: boot,
  }
  return {
    async call(path, call) {
      const answer = await fetch(order.io.origin + path, {
        ...call,
        redirect: "error",
        headers: { ...headers, ...call.headers },
      })
      if (answer.ok) return answer
      await answer.body?.cancel()
      if (answer.status === 410) {
        kill.abort("gone")
        kill.signal.throwIfAborted()
      }
      const message = `The Worker answered ${answer.status} to ${call.method ?? "GET"} ${path}.`
      if (answer.status < 500 && !RETRIABLE.has(answer.status)) {
        throw new RunnerError("internal", message)
      }
      throw new Error(message)
    },
  }
}
