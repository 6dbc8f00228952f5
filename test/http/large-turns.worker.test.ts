import { Hono } from "hono"
import { expect, test } from "vitest"
import { takeTurn } from "../../src/http/large-turns.ts"
import type { App } from "../../src/http/request.ts"

const CREATES = 5
const LARGE = 900_000
const SMALL = 1_000

/** What happens in which order where creates of these sizes come at once, beside others' work. */
async function orderOf(sizes: (number | null)[]): Promise<string[]> {
  const order: string[] = []
  const app = new Hono<App>().post("/", async (c) => {
    await takeTurn(c)
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

test.for([LARGE, null])("others are served between two large creates (%s bytes)", async (size) => {
  const order = await orderOf(Array.from({ length: CREATES }, () => size))
  expect(order.filter((each) => each === "create")).toHaveLength(CREATES)
  expect(order.join(" ")).not.toContain("create create")
})

test("small creates wait for nobody", async () => {
  const order = await orderOf(Array.from({ length: CREATES }, () => SMALL))
  expect(order.slice(0, CREATES)).toEqual(Array.from({ length: CREATES }, () => "create"))
})

test("a large create that is alone waits for one round", async () => {
  const order = await orderOf([LARGE])
  expect(order.filter((each) => each === "other").length).toBeLessThanOrEqual(2)
})
