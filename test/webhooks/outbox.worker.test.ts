import { expect, it } from "vitest"
import { enqueueDelivery } from "../../src/webhooks/outbox.ts"
import { makeEnvWithSettings } from "../support/runner/faked-container.ts"

const DAY_MS = 24 * 3_600_000

it.for([
  [0, 0],
  [1500, 2],
  [DAY_MS / 2, 43_200],
  [DAY_MS, 43_200],
])("a delivery that is due after %d ms has a message after %d s", async ([waitMs = 0, seconds]) => {
  const delays: unknown[] = []
  const WEBHOOKS = {
    send(_: unknown, { delaySeconds }: { delaySeconds: number }) {
      delays.push(delaySeconds)
      return Promise.resolve()
    },
  }
  const dueAt = Date.now() + waitMs
  const message = { accountId: "an-account", deliveryId: "a-delivery", dueAt }
  await enqueueDelivery(makeEnvWithSettings({ WEBHOOKS }), message)
  expect(delays).toEqual([seconds])
})
