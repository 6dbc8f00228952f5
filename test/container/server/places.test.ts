import { afterEach, beforeEach, expect, test } from "vitest"
import { startHarness } from "../harness.ts"
import type { Harness } from "../harness.ts"
import { tierWithNamespaces } from "../../support/supported-tiers.ts"

const tier = await tierWithNamespaces()
const PATIENT = { timeout: 60_000 }
/** A place of each pool that has some. */
const PLACES = 2
const COMMAND = "-f lavfi -i testsrc2=size=64x36:d=0.2 -c:v mpeg4 out.mp4".split(" ")

let harness: Harness

beforeEach(async ({ skip }) => {
  skip(tier === undefined, "this machine does not support namespaces")
  harness = await startHarness({ placesMax: 1 })
  await expect.poll(() => harness.workspaces(), PATIENT).toHaveLength(PLACES)
})

afterEach(async () => {
  if (tier !== undefined) await harness.close()
})

test("a task works in a place that waits for it, and another is made for the next", async () => {
  /** How many of the places of before are left after a task, which finds one only where it is ready. */
  async function countLeft(): Promise<number> {
    const before = await harness.workspaces()
    const order = harness.order([COMMAND])
    expect(await harness.finish(order)).toMatchObject({ kind: "finished" })
    await expect.poll(() => harness.workspaces(), PATIENT).toHaveLength(PLACES)
    const after = await harness.workspaces()
    expect(after.filter((name) => name.startsWith(order.task_id))).toEqual([])
    return after.filter((name) => before.includes(name)).length
  }
  while ((await countLeft()) !== PLACES - 1);
})

test("a runner that leaves gives all places up", async () => {
  await harness.shutDown()
  expect(await harness.workspaces()).toEqual([])
})
