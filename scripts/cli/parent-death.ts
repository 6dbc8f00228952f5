import { spawnSync } from "node:child_process"

const SETPRIV = ["setpriv", "--pdeathsig", "KILL", "--"]

/**
 * Wraps a command so that the kernel kills its process when this process dies, even by SIGKILL.
 * Returns the command unchanged on a system without this feature.
 */
export function wrapToDieWithParent(command: [string, ...string[]]): [string, ...string[]] {
  return canKillWithParent() ? ["setpriv", ...SETPRIV.slice(1), ...command] : command
}

let isPossible: boolean | null = null

/** Reports whether this system has util-linux's setpriv, which sets the parent-death signal. */
export function canKillWithParent(): boolean {
  isPossible ??= spawnSync("setsid", [...SETPRIV, "true"]).status === 0
  return isPossible
}
