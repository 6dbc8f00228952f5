import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { widely } from "../../support/wide.ts"
import { isChange } from "./cloudflare-routes.ts"
import { startCloudflare } from "./cloudflare.ts"
import type { CloudflareStandIn } from "./cloudflare.ts"
import { makeMachine } from "./deployment.ts"
import type { Machine } from "./deployment.ts"

// Each run starts wrangler several times.
vi.setConfig({ testTimeout: 300_000 })

let cloudflare: CloudflareStandIn
let machine: Machine
beforeEach(async () => {
  cloudflare = await startCloudflare()
  machine = makeMachine(cloudflare)
})
afterEach(async () => {
  expect(cloudflare.unknown).toEqual([])
  machine.remove()
  await cloudflare.close()
})

test("an account without Analytics Engine is deployed to without metrics, before an image is built", async () => {
  cloudflare.hasAnalytics = false
  const { exitCode, output } = await machine.deploy()
  expect(output).toMatch(/Metrics: left out[^]*Storage and queues: made[^]*Building and deploying/)
  expect(exitCode).toBe(0)
  expect(cloudflare.worker?.bindings.filter(({ name }) => name === "METRICS")).toEqual([])
  expect(cloudflare.workers).toHaveLength(1)
})

test.each(widely([], ["has them"]))("once it is turned on, the next deployment %s", async () => {
  cloudflare.hasAnalytics = false
  await machine.deploy()
  cloudflare.hasAnalytics = true
  const later = await machine.deploy()
  expect(later.output).not.toContain("Metrics:")
  expect(cloudflare.worker?.bindings).toContainEqual(expect.objectContaining({ name: "METRICS" }))
})

test("without Analytics Engine `wrangler deploy` stops before anything is made", async () => {
  cloudflare.hasAnalytics = false
  const { exitCode, output } = await machine.wrangler(["deploy"])
  expect(output).toContain("is not turned on in this account (https://dash.cloudflare.com/")
  expect(output).toContain("`npm run deploy`, which leaves the metrics out")
  expect(exitCode).toBe(1)
  expect(cloudflare.calls.filter(isChange)).toEqual([])
})
