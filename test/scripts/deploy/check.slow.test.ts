import { afterAll, beforeAll, expect, test } from "vitest"
import { wideTest } from "../../support/wide-test.ts"
import { accountsLeft } from "../../system/operate/check-stage.ts"
import { startService } from "../../system/service.ts"
import type { TestService } from "../../system/service.ts"
import type { CloudflareStandIn } from "./cloudflare.ts"
import { makeMachine, readAll } from "./deployment.ts"
import type { Machine } from "./deployment.ts"
import { useDeployment } from "./use-deployment.ts"

let service: TestService
let cloudflare: CloudflareStandIn
let machine: Machine

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: "127.0.0.1" })
})
afterAll(async () => await service[Symbol.asyncDispose]())

useDeployment((...started) => {
  ;[cloudflare, machine] = started
  cloudflare.service = service.operator
})

test("a deployment ends with real jobs, and --check runs them again and changes nothing", async () => {
  const deployed = await machine.run("deploy")
  expect(deployed.output).toContain(`Check of ${cloudflare.origin}: real jobs`)
  expect(deployed.output).toMatch(/ {2}command {4}ok, [\d.]+ s: \d+ bytes of MP4 were returned/)
  expect(deployed.output).toMatch(/ {2}webhook {4}ok, /)
  expect(deployed.output).toContain("runner of this machine: Linux ")
  expect(deployed.output).toContain("fetch, lookup.")
  expect(deployed.exitCode).toBe(0)

  cloudflare.calls.length = 0
  const before = readAll(machine.folder)
  const words = machine.words()
  const checked = await machine.run("deploy", ["--check"], { WRANGLER_DOCKER_BIN: "/nonexistent" })
  expect(checked.output).toMatch(
    /^Check of [\s\S]*[56] of 8 steps passed; unchecked: .*fetch, lookup\.\n$/,
  )
  expect(checked.exitCode).toBe(0)
  expect(cloudflare.calls).toEqual([])
  before.delete(`${machine.folder}/words`)
  const after = readAll(machine.folder)
  after.delete(`${machine.folder}/words`)
  expect(after).toEqual(before)
  expect(machine.words().slice(words.length)).not.toContain("wrangler.js")
  expect(await accountsLeft(service.operator)).toEqual([])
})

test("a deployment whose check fails stays, and exits with 1", async () => {
  const { exitCode, output } = await machine.run("deploy", [], {
    CHECK_URL: "http://127.0.0.1:9/nothing.mp4",
  })
  expect(output).toContain(`Lathe runs at ${cloudflare.origin}/v1.`)
  expect(output).toMatch(/ {2}fetch {6}failed, .*connection_failed/)
  expect(output).toContain("Check: fetch, lookup failed")
  expect(exitCode).toBe(1)
  expect(cloudflare.worker).not.toBeNull()
})

wideTest(
  "an impossible check is reported before the deployment, or leaves the deployment unchanged",
  async () => {
    const refused = await machine.run("deploy", [], { CHECK_URL: "no address" })
    expect(refused.output).toContain('CHECK_URL is "no address": expected the URL of media')
    expect(refused.exitCode).toBe(1)
    expect(cloudflare.calls).toEqual([])
    await machine.deploy()
    const other = makeMachine(cloudflare)
    const { exitCode, output } = await other.run("deploy")
    expect(output).toContain("Check: skipped, since this machine has no operator token")
    expect(exitCode).toBe(0)
    other.remove()
  },
)

test.each([
  ["without a deployment", [], "This machine has not deployed"],
  ["without a token", ["--origin", "http://127.0.0.1:9"], "has no operator token of http://127"],
])("a check alone %s names the missing token or deployment", async (_case, words, sentence) => {
  const { exitCode, output } = await machine.run("deploy", ["--check", ...words])
  expect(output).toContain(sentence)
  expect(output).not.toContain("    at ")
  expect(exitCode).toBe(1)
  expect(cloudflare.calls).toEqual([])
})
