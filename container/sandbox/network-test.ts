import { openNetworkTargets } from "./network-targets.ts"
import { runnerSandbox } from "./sandbox.ts"
import type { Sandbox } from "./sandbox.ts"
import type { Attack } from "./self-test.ts"
import { startProcess } from "./start.ts"

/** What the network attack tries, and what has to come of it. */
export const NETWORK_ATTACKS = {
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

/** What each start of a runner tries: one attack on each way out, and on other processes. */
export const SHORT_NETWORK_ATTACKS = [
  "tcp",
  "multipath",
  "datagram",
  "path",
  "touch_others",
] as const satisfies readonly (keyof typeof NETWORK_ATTACKS)[]

/** A start on a quarter of a processor takes as long as several on a whole one. */
const TIME_LIMIT_MS = 30_000

/** Attacks by a tool with a network, and why no tool can be given one, as a sentence or null. */
export type NetworkTest = { attacks: Attack[]; problem: string | null }

/**
 * Runs an attack that has a network in a sandbox, and tries to reach something else by it: by these
 * attempts, or by all.
 */
export async function testNetwork(
  sandbox: Sandbox,
  attackPath: string,
  names: readonly string[] | undefined,
): Promise<NetworkTest> {
  const taskSandbox = runnerSandbox(sandbox)
  await using targets = await openNetworkTargets(taskSandbox.uid)
  const end = await startProcess({
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
  const attacks = Object.entries(NETWORK_ATTACKS)
    .filter(([name]) => names?.includes(name) ?? true)
    .map(([name, outcome]) => ({ name, refused: lines.has(`${name} ${outcome}`) }))
  const why =
    end.spawnError ??
    describeMisses(attacks) ??
    (targets.wasReached() ? "a listener outside was reached" : null)
  const problem = why === null ? null : `Tools of this sandbox cannot be given a network: ${why}.`
  return { attacks, problem }
}

function describeMisses(attacks: readonly Attack[]): string | null {
  const missed = attacks.filter(({ refused }) => !refused).map(({ name }) => name)
  return missed.length > 0 ? `not refused or diverted: ${missed.join(", ")}` : null
}
