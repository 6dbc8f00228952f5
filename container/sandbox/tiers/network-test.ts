import { createSandboxWithoutTask } from "../sandbox.ts"
import type { Sandbox } from "../sandbox.ts"
import type { SandboxAttackResult } from "./self-test.ts"
import { startToolProcess } from "../start-process.ts"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { chown, mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:net"
import type { ListenOptions, Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * Required outcomes of the attempts that container/launcher/network-attack.c makes, by the name of
 * the attempt: refused, or diverted to the tool's UNIX socket.
 */
export const EXPECTED_NETWORK_ATTACK_OUTCOMES = {
  tcp: "diverted",
  tcp_without_blocking: "diverted",
  tcp_again: "diverted",
  tcp_in_thread: "diverted",
  tcp_in_child: "diverted",
  tcp_in_program: "diverted",
  tcp_in_a_race: "diverted",
  tcp_many_times: "diverted",
  multipath: "refused",
  datagram: "refused",
  path: "refused",
  other_socket: "refused",
  fast_open: "refused",
  message: "refused",
  ring: "refused",
  server: "refused",
  ask_socket: "refused",
  touch_others: "refused",
  hide: "refused",
  run_others: "refused",
} as const

/**
 * Names of the network attacks that are tested at each start of a runner: one attack for each kind
 * of connection, and one attack on other processes.
 */
export const STARTUP_NETWORK_ATTACKS = [
  "tcp",
  "multipath",
  "datagram",
  "path",
  "touch_others",
] as const satisfies readonly (keyof typeof EXPECTED_NETWORK_ATTACK_OUTCOMES)[]

/**
 * Time limit of the network test, in milliseconds. The limit allows for slow machines, on which the
 * start of a tool takes several times as long.
 */
const TIME_LIMIT_MS = 30_000

/**
 * Outcomes of the network attack. `problem` is a sentence that explains why tools cannot have a
 * network; null if tools can have a network.
 */
export type NetworkTestResult = { attacks: SandboxAttackResult[]; problem: string | null }

/**
 * Runs the network attack in a sandbox whose tools have a network. The attack tries to reach
 * targets other than its UNIX socket. Makes only the attempts in `names`, or all attempts if
 * `names` is undefined.
 */
export async function testNetworkIsolation(
  sandbox: Sandbox,
  attackPath: string,
  names: readonly string[] | undefined,
): Promise<NetworkTestResult> {
  const taskSandbox = createSandboxWithoutTask(sandbox)
  await using targets = await startNetworkAttackTargets(taskSandbox.uid)
  const end = await startToolProcess({
    tool: attackPath,
    argv: targets.argvFor(names ?? "all"),
    taskSandbox,
    cwd: "/",
    access: "none",
    network: targets.socketPath,
    mayFork: true,
    timeLimitMs: TIME_LIMIT_MS,
    signal: new AbortController().signal,
    stdoutBytesMax: 4096,
  }).finished
  const lines = new Set(end.stdout.split("\n"))
  const attacks = Object.entries(EXPECTED_NETWORK_ATTACK_OUTCOMES)
    .filter(([name]) => names?.includes(name) ?? true)
    .map(([name, outcome]) => ({ name, refused: lines.has(`${name} ${outcome}`) }))
  const why =
    end.spawnError ??
    describeMisses(attacks) ??
    (targets.wasReached() ? "a listener outside was reached" : null)
  const problem = why === null ? null : `Tools of this sandbox cannot have a network: ${why}.`
  return { attacks, problem }
}

function describeMisses(attacks: readonly SandboxAttackResult[]): string | null {
  const missed = attacks.filter(({ refused }) => !refused).map(({ name }) => name)
  return missed.length > 0 ? `not refused or diverted: ${missed.join(", ")}` : null
}

const GREETING = "lathe"

/**
 * Targets of the network attack: listeners that the attack must not reach, and the UNIX socket to
 * which all connections of the attack must lead.
 */
type NetworkTargets = {
  /** Folder of the two UNIX sockets. Only the user of this process may enter the folder. */
  folder: string
  /** UNIX socket that must receive all connections of the attack. */
  socketPath: string
  /** Returns the arguments of the attack program for the named attempts, or for all attempts. */
  argvFor(names: readonly string[] | "all"): string[]
  wasReached(): boolean
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens the targets of the network attack on the loopback address, or on all addresses in
 * `addresses`. `uid` becomes the owner of the UNIX sockets. If `uid` is null, the user of this
 * process remains the owner.
 */
export async function startNetworkAttackTargets(
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
  const [proxySocket, other, tcp] = await Promise.all([
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
      for (const each of [proxySocket, other, tcp, datagrams]) each.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Opens a server that sends the expected greeting to each client. A server that attacks must not
 * reach has a callback `note`, which counts its clients, and sends another text.
 */
async function listen(where: ListenOptions, note?: () => void): Promise<Server> {
  const server = createServer((socket) => {
    note?.()
    // Ignores errors, since some clients close the connection before the greeting.
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
