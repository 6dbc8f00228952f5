import { measureDeletedFiles } from "./deleted-files.ts"
import type { Meter, Usage } from "./meter.ts"

const USAGE_POLL_MS = 200
/** Deleted files are measured in every fifth poll, since listing /proc stalls the process. */
const POLLS_PER_DELETED = 5

/**
 * A watch over a workspace: `stop` ends its polls, `end` measures once more and answers whether the
 * limit is exceeded, since a process may exceed it between two polls.
 */
export type UsageWatch = { stop(): void; end(): Promise<boolean> }

type Watched = { meter: Meter; folder: string; pid: number | undefined; mayFork: boolean }

/**
 * Measures a workspace five times a second, and once a second the deleted files that the process
 * working there keeps open. Calls back once when that exceeds the limit, and closes the meter at its
 * end, when only what a tool that may fork has left behind could still change the workspace.
 */
export function watchUsage(
  { meter, folder, pid, mayFork }: Watched,
  limit: Usage,
  onExceeded: () => void,
): UsageWatch {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let polls = 0
  function exceeds({ bytes, files }: Usage, deletedBytes: number): boolean {
    return bytes + deletedBytes > limit.bytes || files > limit.files
  }
  async function poll(): Promise<void> {
    polls += 1
    const deletedBytes =
      polls % POLLS_PER_DELETED === 0 ? await measureDeletedFiles(folder, pid) : 0
    const isExceeded = exceeds(await meter.measure(), deletedBytes)
    if (isStopped) return
    if (isExceeded) onExceeded()
    else schedule()
  }
  // Polls do not overlap: one takes long where there are many files.
  function schedule(): void {
    timer = setTimeout(() => void poll(), USAGE_POLL_MS)
  }
  function stop(): void {
    isStopped = true
    clearTimeout(timer)
  }
  schedule()
  return {
    stop,
    async end() {
      stop()
      const usage = await (mayFork ? meter.measure() : meter.measureAtRest())
      meter.close()
      return exceeds(usage, 0)
    },
  }
}
