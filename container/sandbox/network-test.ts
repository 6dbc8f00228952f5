import { openNetworkTargets } from "./network-targets.ts"
import { runnerSandbox } from "./sandbox.ts"
import type { Sandbox } from "./sandbox.ts"
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

/** A start on a quarter of a processor takes as long as several on a whole one. */
const TIME_LIMIT_MS = 30_000

/**
 * Why tools of a sandbox can be given no network, as a sentence; null where they can. An attack runs
 * with one and tries to reach something else by it.
 */
export async function findNetworkProblem(
  sandbox: Sandbox,
  attackPath: string,
): Promise<string | null> {
  const taskSandbox = runnerSandbox(sandbox)
  await using targets = await openNetworkTargets(taskSandbox.uid)
  const end = await startProcess({
    tool: attackPath,
    argv: targets.argv,
    taskSandbox,
    cwd: "/",
    access: "none",
    network: targets.socketPath,
    mayFork: true,
    timeLimitMs: TIME_LIMIT_MS,
    signal: new AbortController().signal,
    stdoutBytesMax: 4096,
  }).finished
  const why =
    end.spawnError ??
    describeMisses(end.stdout) ??
    (targets.wasReached() ? "a listener outside was reached" : null)
  return why === null ? null : `Tools of this sandbox cannot be given a network: ${why}.`
}

function describeMisses(stdout: string): string | null {
  const lines = new Set(stdout.split("\n"))
  const missed = Object.entries(NETWORK_ATTACKS).filter(
    ([name, outcome]) => !lines.has(`${name} ${outcome}`),
  )
  if (missed.length === 0) return null
  return missed.map(([name, outcome]) => `${name} was not ${outcome}`).join(", ")
}
