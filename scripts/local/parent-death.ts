import { spawnSync } from "node:child_process"

const SETPRIV = ["setpriv", "--pdeathsig", "KILL", "--"]

/**
 * The command so that the kernel ends it when this process dies, however it dies; the command
 * itself where the system cannot do that.
 */
export function diesWithParent(command: [string, ...string[]]): [string, ...string[]] {
  return canDieWithParent() ? ["setpriv", ...SETPRIV.slice(1), ...command] : command
}

/** Whether this system has util-linux, whose setpriv asks the kernel for a signal at that moment. */
export function canDieWithParent(): boolean {
  return spawnSync("setsid", [...SETPRIV, "true"]).status === 0
}
