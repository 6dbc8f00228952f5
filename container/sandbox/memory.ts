import { readFileSync } from "node:fs"
import { totalmem } from "node:os"
import { listProcessTreeIds } from "./deleted-files.ts"

/** Interval of the memory polls. An encoder can fill a gigabyte in half a second. */
const MEMORY_POLL_MS = 100
/**
 * Number of memory polls for each listing of the processes. A listing is slow, since it reads every
 * thread, and a tool may have a hundred threads.
 */
const POLLS_PER_LIST = 10
const PAGE_BYTES = 4096

/**
 * Returns the memory that this process can use, in bytes: all memory of the machine, or the limit
 * of the control group if it is lower.
 */
export function readUsableMemoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/**
 * Polls the memory of a process and its descendants, without mapped files. Calls `onExceeded` once,
 * when it exceeds `bytesMax`. Works on Linux only. Returns a function that stops the polls.
 */
export function watchProcessTreeMemory(
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
    pids = await listProcessTreeIds(String(pid))
  }
}

/** Returns the memory of a process without mapped files, in bytes; 0 if the process has ended. */
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
