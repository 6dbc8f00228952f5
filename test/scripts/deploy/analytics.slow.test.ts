import { expect, test } from "vitest"
import { wideTest } from "../../support/wide-test.ts"
import { isChange } from "./cloudflare-routes.ts"
import type { CloudflareStandIn } from "./cloudflare.ts"
import type { Machine } from "./deployment.ts"
import { useDeployment } from "./use-deployment.ts"

let cloudflare: CloudflareStandIn
let machine: Machine
useDeployment((...started) => {
  ;[cloudflare, machine] = started
})

test("a deployment to an account without Analytics Engine omits the metrics before it builds an image", async () => {
  cloudflare.hasAnalytics = false
  const { exitCode, output } = await machine.deploy()
  expect(output).toMatch(
    /Metrics: left out[^]*Storage and queues: created[^]*Building and deploying/,
  )
  expect(exitCode).toBe(0)
  expect(cloudflare.worker?.bindings.filter(({ name }) => name === "METRICS")).toEqual([])
  expect(cloudflare.workers).toHaveLength(1)
})

wideTest("once it is turned on, the next deployment has them", async () => {
  cloudflare.hasAnalytics = false
  await machine.deploy()
  cloudflare.hasAnalytics = true
  const later = await machine.deploy()
  expect(later.output).not.toContain("Metrics:")
  expect(cloudflare.worker?.bindings).toContainEqual(expect.objectContaining({ name: "METRICS" }))
})

test("`wrangler deploy` stops before any change without Analytics Engine", async () => {
  cloudflare.hasAnalytics = false
  const { exitCode, output } = await machine.wrangler(["deploy"])
  expect(output).toContain("is not turned on in this account (https://dash.cloudflare.com/")
  expect(output).toContain("`npm run deploy`, which leaves the metrics out")
  expect(exitCode).toBe(1)
  expect(cloudflare.calls.filter(isChange)).toEqual([])
})
