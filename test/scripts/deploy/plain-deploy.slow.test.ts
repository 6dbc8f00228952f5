import { DatabaseSync } from "node:sqlite"
import { expect, test } from "vitest"
import { readDeploymentRecord } from "../../../scripts/cli/deployment-record.ts"
import { wideTest } from "../../support/wide-test.ts"
import { selectCases } from "../../support/wide.ts"
import { RIGHTS, isChange } from "./cloudflare-routes.ts"
import { EVERYTHING, tablesOf, varsOf, whatIsThere } from "./cloudflare.ts"
import type { CloudflareStandIn } from "./cloudflare.ts"
import { readAll } from "./deployment.ts"
import type { Machine } from "./deployment.ts"
import { useDeployment } from "./use-deployment.ts"

let cloudflare: CloudflareStandIn
let machine: Machine
useDeployment((...started) => {
  ;[cloudflare, machine] = started
})

test("`wrangler deploy` completes a deployment, and a repeat creates nothing", async () => {
  const first = await machine.wrangler(["deploy"])
  expect(first.output).toContain("Storage and queues: created D1 database lathe")
  expect(first.output).toContain("Secrets: created LATHE_SECRET and OPERATOR_TOKEN")
  expect(first.output).toContain("Database: lathe brought to the newest migration.")
  expect(first.exitCode).toBe(0)
  expectWhole()
  const secrets = new Map(cloudflare.worker?.secrets)
  const token = secrets.get("OPERATOR_TOKEN") ?? ""
  for (const secret of secrets.values()) {
    expect(secret.length).toBeGreaterThanOrEqual(32)
    expect(first.output).not.toContain(secret)
    expect(machine.words()).not.toContain(secret)
  }
  const holding = [...readAll(machine.folder)].filter(([, text]) => text.includes(token))
  expect(holding).toMatchObject([[`${machine.stateDir}/remote/account-1/lathe.json`, {}]])

  const before = whatIsThere(cloudflare)
  cloudflare.calls.length = 0
  const second = await machine.wrangler(["deploy"])
  expect(second.output).toContain("Storage and queues: all there.")
  expect(second.output).toContain("Secrets: the Worker has them.")
  expect(second.output).toContain("Database: lathe has every migration.")
  expect(second.exitCode).toBe(0)
  expect(whatIsThere(cloudflare)).toEqual(before)
  expect(cloudflare.worker?.secrets).toEqual(secrets)
  const made =
    /^POST .*\/(?:database|buckets|queues|consumers|applications)$|^PATCH .*secrets-bulk$|^PUT .*lifecycle$/
  expect(cloudflare.calls.filter((call) => made.test(call))).toEqual([])
})

test("a dry run of `wrangler deploy` sends no request to the account", async () => {
  const { output, exitCode } = await machine.wrangler([
    "deploy",
    "--dry-run",
    "--containers-rollout=none",
  ])
  expect(output).toContain("--dry-run: exiting now.")
  expect(exitCode).toBe(0)
  expect(cloudflare.calls).toEqual([])
})

test.each(
  selectCases<[setting: string, value: string, words: string]>(
    [["RUNNER_INSTANCES", "3", "lacks or has otherwise (PUBLIC_ORIGIN, RUNNER_INSTANCES)"]],
    [
      ["DATABASES", "2", "(DATABASES, PUBLIC_ORIGIN)"],
      ["REGION", "weur", "(PUBLIC_ORIGIN, REGION)"],
      ["RUN_SECONDS_MAX", "60", "(PUBLIC_ORIGIN, RUN_SECONDS_MAX)"],
      ["LOG_SAMPLE_RATE", "0.1", "(LOG_SAMPLE_RATE, PUBLIC_ORIGIN)"],
      ["LATHE_DOMAIN", "media.acme.invalid", "(LATHE_DOMAIN, PUBLIC_ORIGIN)"],
      ["LATHE_NAME", "cutter", 'This machine has deployed "cutter" to the account'],
    ],
  ),
)(
  "beside a deployment with %s=%s `wrangler deploy` stops and changes nothing",
  async (...given) => {
    const [setting, value, words] = given
    expect(await machine.deploy([], { [setting]: value })).toMatchObject({
      output: expect.stringContaining("Worker and containers: deployed version"),
    })
    const before = structuredClone(cloudflare.worker)
    cloudflare.calls.length = 0
    const { exitCode, output } = await machine.wrangler(["deploy"])
    expect(output).toContain(words)
    expect(output).toContain("npm run deploy")
    expect(exitCode).toBe(1)
    expect(cloudflare.calls.filter(isChange)).toEqual([])
    expect(cloudflare.worker).toEqual(before)
  },
)

/** Each way to lose something that `wrangler deploy` makes again. */
const LOSSES: [name: string, lose: () => void][] = [
  ["the bucket", () => cloudflare.buckets.clear()],
  ["the rule of the bucket", () => cloudflare.buckets.set("lathe-media", DEFAULT_RULES)],
  ...EVERYTHING.queues.map((name): [string, () => void] => [
    `the queue ${name}`,
    () => {
      cloudflare.queues = cloudflare.queues.filter(({ queue_name }) => queue_name !== name)
    },
  ]),
  ...EVERYTHING.secrets.map((name): [string, () => void] => [
    `the secret ${name}`,
    () => cloudflare.worker?.secrets.delete(name),
  ]),
  ["the Worker", () => cloudflare.workers.splice(0)],
  ["a container application", () => cloudflare.applications.splice(1, 1)],
  [
    "every table",
    () => {
      for (const database of cloudflare.databases) database.sqlite = new DatabaseSync(":memory:")
    },
  ],
]
const DEFAULT_RULES = [{ id: "Default Multipart Abort Rule" }]

wideTest("`wrangler deploy` recreates missing resources", async () => {
  await machine.wrangler(["deploy"])
  for (const [name, lose] of LOSSES) {
    lose()
    expect({ name, ...(await machine.wrangler(["deploy"])) }).toMatchObject({ name, exitCode: 0 })
    expectWhole()
  }
  cloudflare.databases.splice(0)
  const { output, exitCode } = await machine.wrangler(["deploy"])
  expect(output).toContain("which is gone with all that was in it")
  expect(exitCode).toBe(1)
  expect(cloudflare.databases).toEqual([])
})

test.each(
  selectCases(
    [],
    RIGHTS.flatMap(([right]) => [right, `${right}: edit`]),
  ),
)("a token without %s gets an error that names the right, and works with it", async (lacked) => {
  cloudflare.lacking.add(lacked)
  const refused = await machine.wrangler(["deploy"])
  expect(refused.output).toContain(
    `A token needs the right to edit ${lacked.replace(": edit", "")} for that`,
  )
  expect(refused.exitCode).toBe(1)
  const changes = cloudflare.calls.filter(isChange)
  expect(lacked.endsWith("edit") ? [] : changes).toEqual([])
  cloudflare.lacking.clear()
  expect(await machine.wrangler(["deploy"])).toMatchObject({ exitCode: 0 })
  expectWhole()
})

wideTest(
  "a deployment killed after any change, before its response, continues on the next run",
  async () => {
    const seen = new Set<string>()
    for (let runs = 0; ; runs++) {
      expect(runs).toBeLessThan(100)
      const started = machine.startWrangler(["deploy"])
      const done: string[] = []
      cloudflare.onChange = async (call) => {
        done.push(call)
        // Each change is once the last one; each migration is another one.
        const step = `${call} ${done.filter((one) => one === call).length}`
        if (seen.has(step)) return
        seen.add(step)
        started.end()
        await started.run
      }
      const { exitCode, output } = await started.run
      if (exitCode === 0) break
      expect(output).not.toContain("failed")
    }
    expect(seen.size).toBeGreaterThan(20)
    expectWhole()
    cloudflare.onChange = null
    const { stateDir } = machine
    const id = { stateDir, accountId: "account-1", name: "lathe" }
    const token = cloudflare.worker?.secrets.get("OPERATOR_TOKEN")
    expect(readDeploymentRecord(id)).toMatchObject({ operatorToken: token })
  },
)

function expectWhole(): void {
  expect(sorted(whatIsThere(cloudflare))).toEqual(sorted(EVERYTHING))
  expect(tablesOf(cloudflare)).toContain("jobs")
  expect(varsOf(cloudflare)).toMatchObject({ RUNNER_INSTANCES: "10" })
  const bound = cloudflare.worker?.bindings.find(({ name }) => name === "DB")
  expect(bound).toMatchObject({ type: "d1", id: cloudflare.databases[0]?.uuid })
}

/** Lost queues and applications are made again after the others. */
function sorted(there: { queues: string[]; applications: string[] }) {
  const { queues, applications } = there
  return { ...there, queues: queues.toSorted(), applications: applications.toSorted() }
}
