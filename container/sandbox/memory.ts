import { readFileSync } from "node:fs"
import { totalmem } from "node:os"
import { listProcessTreeIds } from "./deleted-files.ts"

/**
 * Interval between two memory polls, in milliseconds. An encoder can fill a gigabyte of memory in
 * half a second.
 */
const MEMORY_POLL_MS = 100
/**
 * Number of memory polls after which the child processes of a tool are listed again. The list takes
 * long, since it is read from each thread, and a tool may have a hundred threads.
 */
const POLLS_PER_LIST = 10
const PAGE_BYTES = 4096

/**
 * Returns the memory that this process can use, in bytes: the total memory of the machine, or the
 * limit of the control group if the limit is lower.
 */
export function readUsableMemoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/**
 * Starts to poll the memory use of a process and its descendants, not counting mapped files. Calls
 * `onExceeded` once, when the memory exceeds `bytesMax`. Works only on Linux. Returns a function
 * that stops the polls.
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

/**
 * Returns the resident memory of a process in bytes, not counting mapped files; 0 if the process
 * has ended.
 */
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
