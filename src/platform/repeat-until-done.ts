/**
 * Time after which no new round starts, in milliseconds. The rounds belong to the cron sweep, which
 * is started every minute.
 */
const WORK_MS_MAX = 40_000
/**
 * Maximum number of rounds. D1 allows 1,000 statements per invocation, and a round has at most 15.
 */
const ROUNDS_MAX = 12

/**
 * Repeats `round` until it returns false, until `WORK_MS_MAX` has passed, or `ROUNDS_MAX` times.
 */
export async function repeatUntilDone(round: () => Promise<boolean>): Promise<void> {
  const startedAt = Date.now()
  for (let rounds = 1; rounds <= ROUNDS_MAX; rounds += 1) {
    if (!(await round()) || Date.now() - startedAt >= WORK_MS_MAX) return
  }
}
