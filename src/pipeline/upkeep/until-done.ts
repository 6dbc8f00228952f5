/** A sweep begins each minute, and ends before the next one does. */
const WORK_MS_MAX = 40_000
/** D1 takes a thousand statements of an invocation, and a round of any work has fifteen at most. */
const ROUNDS_MAX = 12

/** Goes on with some work while a round of it says that there may be more, and there is time. */
export async function untilDone(round: () => Promise<boolean>): Promise<void> {
  const startedAt = Date.now()
  for (let rounds = 1; rounds <= ROUNDS_MAX; rounds += 1) {
    if (!(await round()) || Date.now() - startedAt >= WORK_MS_MAX) return
  }
}
