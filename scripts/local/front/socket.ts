import { once } from "node:events"
import { networkInterfaces } from "node:os"
import { Worker } from "node:worker_threads"
import { z } from "zod"
import { BUILT } from "../built.ts"
import { CliError } from "../cli-error.ts"
import { isSystemError } from "../system-error.ts"

type Address = { host: string; port: number }

/**
 * Listens where callers reach the service, and accepts none of them: that is for the process that gets the
 * descriptor, and callers wait while no process has it. Throws a CliError where it cannot listen.
 */
export async function openSocket(
  address: Address,
): Promise<{ descriptor: number } & AsyncDisposable> {
  const thread = new Worker(BUILT.socket, { workerData: address })
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

/** The addresses by which callers may name a host: all of this machine where it listens on all. */
export function addressesOf(host: string): string[] {
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
    return { why: "something else listens there", remedy: "set PORT to another one" }
  }
  if (isSystemError(error, "EACCES")) {
    return { why: "this user may not", remedy: "set PORT to one above 1023" }
  }
  const isElsewhere = isSystemError(error, "EADDRNOTAVAIL") || isSystemError(error, "EAFNOSUPPORT")
  const why = isElsewhere ? "this machine has no such address" : String(error)
  return { why, remedy: "set HOST to an address of this machine" }
}
