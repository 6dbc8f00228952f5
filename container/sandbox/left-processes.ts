import { readFileSync, readdirSync, realpathSync } from "node:fs"
import { basename } from "node:path"
import { log } from "../log.ts"
import { namesWorkspaceOf } from "./workspace.ts"

/**
 * Ends what an earlier runner left of sandboxes in the workspaces of a work folder, which exists. A
 * bwrap that is killed while it sets up its child, as it is when its runner is killed, leaves a child
 * that waits for it for ever, and that keeps the user id of its task.
 */
export function endLeftSandboxes(workDir: string): void {
  if (process.platform !== "linux") return
  const root = realpathSync(workDir)
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const [program = "", ...words] = wordsOf(pid)
    if (basename(program) !== "bwrap" || !words.some((word) => namesWorkspaceOf(root, word)))
      continue
    log("info", "sandbox.ended", { pid: Number(pid) })
    try {
      process.kill(Number(pid), "SIGKILL")
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** The words that a process was started with; none of one that has ended. */
function wordsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
  } catch {
    return []
  }
}
