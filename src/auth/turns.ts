/** When each piece of work that holds up all else may begin. */
export type Turns = {
  /** How long work that costs so much has to wait, and keeps its turn; null where it is too long. */
  take(now: number, costMs: number): number | null
}

/**
 * Spaces work so that in the long run it takes half of the time; what costs no more than `burstMs`
 * together begins at once where there was none before. A turn that is not used is only lost.
 */
export function makeTurns({ burstMs, waitMsMax }: Record<"burstMs" | "waitMsMax", number>): Turns {
  let freeAt = 0
  return {
    take(now, costMs) {
      const waitMs = Math.max(0, freeAt - now)
      if (waitMs > waitMsMax) return null
      freeAt = Math.max(freeAt, now - 2 * burstMs) + 2 * costMs
      return waitMs
    },
  }
}
