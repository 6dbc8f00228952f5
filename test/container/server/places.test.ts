import { afterEach, beforeEach, expect, test } from "vitest"
import { startHarness } from "../harness.ts"
import type { Harness } from "../harness.ts"
import { findTierWithNamespaces } from "../../support/runner/supported-tiers.ts"

const tier = await findTierWithNamespaces()
const PATIENT = { timeout: 60_000 }
/** Warm sandboxes at the start: one for each pool that has any. */
const PLACES = 2
const COMMAND = "-f lavfi -i testsrc2=size=64x36:d=0.2 -c:v mpeg4 out.mp4".split(" ")

let harness: Harness

beforeEach(async ({ skip }) => {
  skip(tier === undefined, "this machine does not support namespaces")
  harness = await startHarness({ warmSandboxesMax: 1 })
  await expect.poll(() => harness.workspaces(), PATIENT).toHaveLength(PLACES)
})

afterEach(async () => {
  if (tier !== undefined) await harness.close()
})

test("a task uses a warm sandbox, and another is started for the next task", async () => {
  /**
   * Returns how many of the earlier warm sandboxes are left after a task; a task uses only one that
   * is ready.
   */
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

test("a runner that shuts down discards all warm sandboxes", async () => {
  await harness.shutDown()
  expect(await harness.workspaces()).toEqual([])
})
