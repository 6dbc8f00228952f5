import { once } from "node:events"
import { networkInterfaces } from "node:os"
import { Worker } from "node:worker_threads"
import { z } from "zod"
import { BUNDLE_PATHS } from "../bundles.ts"
import { CliError } from "../../cli/cli-error.ts"
import { isSystemError } from "../../cli/system-error.ts"

type Address = { host: string; port: number }

/**
 * Creates the listening socket of the service and returns its file descriptor. The socket accepts
 * no connections: clients wait until the process that inherits the descriptor accepts them. Throws
 * a CliError if the socket cannot listen.
 */
export async function createListeningSocket(
  address: Address,
): Promise<{ descriptor: number } & AsyncDisposable> {
  const thread = new Worker(BUNDLE_PATHS.socket, { workerData: address })
  try {
    const [descriptor] = z.tuple([z.int().nonnegative()]).parse(await once(thread, "message"))
    return {
      descriptor,
      [Symbol.asyncDispose]: async () => void (await thread.terminate()),
    }
  } catch (error) {
    throw cannotListen(address, error)
  }
}

/**
 * Returns the addresses that callers may use in `Host`: `host`, or all addresses of this machine if
 * the service listens on all of them.
 */
export function listAcceptedHostAddresses(host: string): string[] {
  if (host !== "0.0.0.0" && host !== "::") return [host.toLowerCase()]
  return Object.values(networkInterfaces()).flatMap(
    (all) => all?.map(({ address }) => address) ?? [],
  )
}

function cannotListen({ host, port }: Address, error: unknown): CliError {
  const { why, remedy } = explain(error)
  const sentence = `Lathe cannot listen on port ${port} of ${host}: ${why}; ${remedy}.`
  return new CliError(sentence, { cause: error })
}

function explain(error: unknown): { why: string; remedy: string } {
  if (isSystemError(error, "EADDRINUSE")) {
    return { why: "another program uses it", remedy: "set PORT to another one" }
  }
  if (isSystemError(error, "EACCES")) {
    return { why: "this user lacks the right", remedy: "set PORT to one above 1023" }
  }
  const isElsewhere = isSystemError(error, "EADDRNOTAVAIL") || isSystemError(error, "EAFNOSUPPORT")
  const why = isElsewhere ? "this machine has no such address" : String(error)
  return { why, remedy: "set HOST to an address of this machine" }
}
