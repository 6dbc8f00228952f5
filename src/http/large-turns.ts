import type { AppContext } from "./request.ts"

/** A smaller body is judged in a few milliseconds. */
const LARGE_BYTES = 64 * 1024
/** However many others there are, nobody waits for more rounds than this. */
const ROUNDS_MAX = 100

/** Large bodies of this isolate that had their turn. */
let turns = 0

/**
 * Waits for the turn of a large body, or of one of unknown size, to be judged, which has the thread for
 * itself meanwhile: one in each round of the event loop, so that what has arrived is served between two.
 */
export async function takeTurn(c: Pick<AppContext, "req">): Promise<void> {
  if (Number(c.req.header("content-length") ?? LARGE_BYTES) < LARGE_BYTES) return
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const before = turns
    await scheduler.wait(0)
    if (turns === before) break
  }
  turns += 1
}
