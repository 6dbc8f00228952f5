import { spawnSync } from "node:child_process"

const SETPRIV = ["setpriv", "--pdeathsig", "KILL", "--"]

/**
 * Wraps a command so that the kernel kills it when this process dies, even by SIGKILL; returns it
 * unchanged where the system cannot do that.
 */
export function diesWithParent(command: [string, ...string[]]): [string, ...string[]] {
  return canDieWithParent() ? ["setpriv", ...SETPRIV.slice(1), ...command] : command
}

let isPossible: boolean | null = null

/** Whether this system has util-linux's setpriv, which sets the parent-death signal. */
export function canDieWithParent(): boolean {
  isPossible ??= spawnSync("setsid", [...SETPRIV, "true"]).status === 0
  return isPossible
}
