import { createSocket } from "node:dgram"
import { once } from "node:events"
import { chown, mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:net"
import type { ListenOptions, Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

const GREETING = "lathe"

/** What the network attack aims at: listeners that nothing may reach, and the socket that it has. */
export type NetworkTargets = {
  /** The folder of both UNIX sockets, which only this process's user may enter. */
  folder: string
  /** The socket to which all connections are to lead. */
  socketPath: string
  /** The words of the attack's command line, for attempts of these names or all. */
  argvFor(names: readonly string[] | "all"): string[]
  wasReached(): boolean
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the targets on the loopback address, or on all of `addresses`; a user gets the sockets. */
export async function openNetworkTargets(
  uid: number | null,
  addresses?: readonly string[],
): Promise<NetworkTargets> {
  let reached = 0
  function note(): void {
    reached += 1
  }
  const folder = await mkdtemp(join(tmpdir(), "lathe-network-"))
  const [socketPath, otherPath] = [join(folder, "given"), join(folder, "other")]
  const host = addresses ? "::" : "127.0.0.1"
  const datagrams = createSocket(addresses ? "udp6" : "udp4", note)
  datagrams.bind(0, host)
  const [given, other, tcp] = await Promise.all([
    listen({ path: socketPath }),
    listen({ path: otherPath }, note),
    listen({ port: 0, host }, note),
    once(datagrams, "listening"),
  ])
  if (uid !== null) await Promise.all([socketPath, otherPath].map((path) => chown(path, uid, uid)))
  const ports = [portOf(tcp), datagrams.address().port].map(String)
  return {
    folder,
    socketPath,
    argvFor: (names) => [...ports, otherPath, GREETING, String(names), ...(addresses ?? [host])],
    wasReached: () => reached > 0,
    async [Symbol.asyncDispose]() {
      for (const each of [given, other, tcp, datagrams]) each.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Greets whoever connects; `note` has the greeting left out. */
async function listen(where: ListenOptions, note?: () => void): Promise<Server> {
  const server = createServer((socket) => {
    note?.()
    // Some attempts are gone before the greeting comes.
    socket.on("error", () => undefined).end(note ? "another" : GREETING)
  })
  server.listen(where)
  await once(server, "listening")
  return server
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === "object" ? (address?.port ?? 0) : 0
}
