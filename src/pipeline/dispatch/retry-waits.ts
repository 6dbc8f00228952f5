const FIRST_MS = 200
/** A platform that has no container to give refuses those who ask it too often. */
const MS_MAX = 10_000

/**
 * Answers how long to wait before each next try, in milliseconds: about twice as long each time, and
 * by chance up to half less, so that those who failed together do not come back together.
 */
export function openRetryWaits(random: () => number = Math.random): () => number {
  let nextMs = FIRST_MS
  return () => {
    const waitMs = nextMs * (1 - random() / 2)
    nextMs = Math.min(2 * nextMs, MS_MAX)
    return waitMs
  }
}
