/** How long tasks have waited for room that the end of no other task would give them. */
export type VainWaits = {
  /** Notes what a look at the disk said of a task; true once that was `isInVain` for too long. */
  isOver(taskId: string, isInVain: boolean): boolean
}

/** A task that is canceled is asked for no more, so only the last ones are remembered. */
const TASKS_MAX = 1000

/** Opens the waits of a process; one is over after `waitMs`. */
export function openVainWaits(waitMs: number): VainWaits {
  const begunAt = new Map<string, number>()
  return {
    isOver(taskId, isInVain) {
      if (!isInVain) {
        begunAt.delete(taskId)
        return false
      }
      const now = performance.now()
      const begun = begunAt.get(taskId) ?? now
      begunAt.set(taskId, begun)
      const [oldest] = begunAt.keys()
      if (begunAt.size > TASKS_MAX && oldest !== undefined) begunAt.delete(oldest)
      return now - begun >= waitMs
    },
  }
}
