import { Hono } from "hono"
import { expect, test } from "vitest"
import { delayLargeBodyValidation } from "../../../src/api/input/accept.ts"
import type { AppEnv } from "../../../src/api/context.ts"

const CREATES = 5
const LARGE = 900_000
const SMALL = 1_000

/** Returns the order of events for concurrent creates of these sizes and other work. */
async function orderOf(sizes: (number | null)[]): Promise<string[]> {
  const order: string[] = []
  const app = new Hono<AppEnv>().post("/", async (c) => {
    await delayLargeBodyValidation(c)
    order.push("create")
    return c.body(null)
  })
  let left = sizes.length
  const creates = sizes.map(async (size) => {
    const headers: HeadersInit = size === null ? {} : { "content-length": String(size) }
    await app.request("/", { method: "POST", headers })
    left -= 1
  })
  async function serveOthers(): Promise<void> {
    while (left > 0) {
      await scheduler.wait(0)
      order.push("other")
    }
  }
  await Promise.all([...creates, serveOthers()])
  return order
}

test.for([LARGE, null])(
  "other requests are served between two large creates (%s bytes)",
  async (size) => {
    const order = await orderOf(Array.from({ length: CREATES }, () => size))
    expect(order.filter((each) => each === "create")).toHaveLength(CREATES)
    expect(order.join(" ")).not.toContain("create create")
  },
)

test("small creates do not wait", async () => {
  const order = await orderOf(Array.from({ length: CREATES }, () => SMALL))
  expect(order.slice(0, CREATES)).toEqual(Array.from({ length: CREATES }, () => "create"))
})

test("a single large create waits for one round", async () => {
  const order = await orderOf([LARGE])
  expect(order.filter((each) => each === "other").length).toBeLessThanOrEqual(2)
})
