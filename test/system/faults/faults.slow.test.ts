import { expect, it } from "vitest"
import { GROUPS } from "../../faults/plan.ts"
import { runGroup } from "../../faults/session.ts"
import { countWrong, openTally } from "../../faults/tally.ts"

/** Time limit. Webhooks that die with workerd come a minute later, and a busy machine is slow. */
const TEST_MS_MAX = 900_000

/** A few cells that take a few seconds each; `npm run test:faults` tries all of them, often. */
const CHOSEN = [
  "kill -9 workerd at accepted",
  "kill -9 runner at encoding",
  "kill -9 ffmpeg at encoding",
  "kill -9 runner at reporting",
  "double reports at always",
  "drop acceptances 12 s at accepted",
  "kill -9 runner at large import: storing part 5",
  "kill -9 workerd at chains: film: ending",
  "kill -9 runner at chains: level: uploading",
  "kill -9 workerd at batches: level: ending",
  "kill -9 workerd at batches: batch: telling",
  "double reports at batches: always",
]

it(
  "no fault loses or repeats a job, or leaves anything behind",
  async () => {
    const all = GROUPS.flatMap((group) => group.cells)
    const cells = CHOSEN.flatMap(
      (name) => all.find(({ fault, point }) => `${fault} at ${point}` === name) ?? [],
    )
    const tally = openTally()
    await runGroup({ name: "a few", smallDisk: "none", cells }, tally, {
      rounds: 1,
      sweepSeconds: 5,
    })
    expect(tally.problems()).toEqual([])
    expect(tally.rows().filter(({ times }) => times === 1)).toHaveLength(CHOSEN.length)
    expect(tally.rows().map(countWrong)).toEqual(tally.rows().map(() => 0))
  },
  TEST_MS_MAX,
)
