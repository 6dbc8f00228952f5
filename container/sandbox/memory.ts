import { readFileSync } from "node:fs"
import { totalmem } from "node:os"
import { listProcesses } from "./deleted-files.ts"

/** An encoder can fill a gigabyte in half a second. */
const MEMORY_POLL_MS = 100
/** Processes are listed in every tenth poll, since a tool may have a hundred threads to look at. */
const POLLS_PER_LIST = 10
const PAGE_BYTES = 4096

/** Memory of the machine, or of the control group of this process where that has less. */
export function instanceMemoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/**
 * Calls back once when a process and its descendants hold more memory than this, files that they map
 * not counted. Works on Linux only; returns what ends the watch.
 */
export function watchMemory(
  pid: number | undefined,
  bytesMax: number,
  onExceeded: () => void,
): () => void {
  if (pid === undefined) return () => undefined
  let pids: readonly string[] = [String(pid)]
  let polls = 0
  const timer = setInterval(() => {
    if (polls % POLLS_PER_LIST === 0) void list()
    polls += 1
    const bytes = pids.reduce((sum, each) => sum + heldBytes(each), 0)
    if (bytes <= bytesMax) return
    clearInterval(timer)
    onExceeded()
  }, MEMORY_POLL_MS)
  timer.unref()
  return () => clearInterval(timer)

  async function list(): Promise<void> {
    pids = await listProcesses(String(pid))
  }
}

/** What a process holds beside mapped files; 0 for one that has ended. */
function heldBytes(pid: string): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, "latin1")
      .split(" ")
      .map(Number)
    return (resident - shared) * PAGE_BYTES
  } catch {
    return 0
  }
}
