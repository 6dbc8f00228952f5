import { statSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { wideTest } from "../../support/wide-test.ts"
import { selectCases } from "../../support/wide.ts"
import { EVERYTHING, tablesOf, varsOf, whatIsThere } from "./cloudflare.ts"
import type { CloudflareStandIn } from "./cloudflare.ts"
import { isChange } from "./cloudflare-routes.ts"
import { makeMachine, readAll } from "./deployment.ts"
import type { Machine } from "./deployment.ts"
import { useDeployment } from "./use-deployment.ts"

let cloudflare: CloudflareStandIn
let machine: Machine
useDeployment((...started) => {
  ;[cloudflare, machine] = started
})

test("the first deployment creates everything once, the second changes nothing", async () => {
  const first = await machine.deploy()
  expect(first.output).toContain(`Lathe runs at ${cloudflare.origin}/v1.`)
  expect(first.output).toContain(`Settings: PUBLIC_ORIGIN=${cloudflare.origin}`)
  expect(first.exitCode).toBe(0)
  expect(whatIsThere(cloudflare)).toEqual(EVERYTHING)
  expect(tablesOf(cloudflare)).toContain("jobs")
  expect(varsOf(cloudflare)).toMatchObject({ PUBLIC_ORIGIN: cloudflare.origin })

  const before = { ...cloudflare.worker }
  cloudflare.calls.length = 0
  const second = await machine.deploy()
  expect(second.exitCode).toBe(0)
  expect(second.output).toContain("Storage and queues: all there.")
  expect(second.output).toContain("Secrets: the Worker has them.")
  expect(second.output).toContain("Database: lathe has every migration.")
  expect(second.output).toContain("Worker and containers: unchanged, since this clone is deployed.")
  expect(new Set(cloudflare.calls.filter(isChange))).toEqual(
    new Set(["POST /accounts/*/d1/database/*/query"]),
  )
  expect(cloudflare.worker).toEqual(before)
})

/** Settings of the operator's own that are secret; nothing of theirs may be seen anywhere. */
const SECRET_SETTINGS = {
  S3_SOURCES: JSON.stringify([
    {
      bucket: "films",
      endpoint: "https://nobody-sees-this-store.invalid",
      access_key_id: "nobody-sees-this-id",
      secret_access_key: "nobody-sees-this-key",
    },
  ]),
  FETCH_COOKIES: "example.com\tFALSE\t/\tTRUE\t0\tsession\tnobody-sees-this-session",
  FETCH_PROXY: "http://nobody-sees-this-user@proxy.acme.invalid:3128",
}

test("secrets appear on no command line, in no output and only in the operator's own file", async () => {
  const { output, exitCode } = await machine.deploy([], SECRET_SETTINGS)
  expect(exitCode).toBe(0)
  expect(output).toContain("FETCH_COOKIES, FETCH_PROXY, S3_SOURCES from the environment")
  const secrets = cloudflare.worker?.secrets ?? new Map<string, string>()
  expect(Object.fromEntries(secrets)).toMatchObject(SECRET_SETTINGS)
  const secret = secrets.get("LATHE_SECRET") ?? ""
  const token = secrets.get("OPERATOR_TOKEN") ?? ""
  expect(Math.min(secret.length, token.length)).toBeGreaterThanOrEqual(32)
  const files = readAll(machine.folder)
  const kept = join(machine.stateDir, "remote", "account-1", "lathe.json")
  expect(machine.words()).toContain("--secrets-file")
  for (const text of [output, machine.words()]) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain(token)
    expect(text).not.toContain(cloudflare.token)
  }
  for (const text of [
    output,
    machine.words(),
    JSON.stringify(varsOf(cloudflare)),
    ...files.values(),
  ])
    expect(text).not.toContain("nobody-sees-this")
  expect([...files].filter(([, text]) => text.includes(secret))).toEqual([])
  const paths = [...files].filter(([, text]) => text.includes(token)).map(([path]) => path)
  expect(paths).toEqual([kept])
  expect(statSync(kept).mode & 0o777).toBe(0o600)

  const keys = await machine.run("keys", ["list", "--remote", `${cloudflare.origin}/v1`])
  expect(keys).toMatchObject({ exitCode: 0, output: expect.stringContaining("ACCOUNT") })
})

wideTest("secret settings remain until they are emptied", async () => {
  await machine.deploy([], SECRET_SETTINGS)
  const emptied = await machine.deploy([], { FETCH_PROXY: "", S3_SOURCES: "" })
  expect(emptied.output).toContain("removed FETCH_PROXY, S3_SOURCES")
  const names = ["FETCH_COOKIES", "LATHE_SECRET", "OPERATOR_TOKEN"]
  expect([...(cloudflare.worker?.secrets.keys() ?? [])].toSorted()).toEqual(names)
  const { output } = await machine.deploy()
  expect(output).toContain("Worker and containers: unchanged, since this clone is deployed.")
})

wideTest("settings remain until they are changed or emptied, and size the containers", async () => {
  const settings = {
    RUN_SECONDS_MAX: "60",
    RUNNER_INSTANCES: "3",
    FETCH_INSTANCE_TYPE: "basic",
    LOOKUP_INSTANCES: "7",
  }
  await machine.deploy([], settings)
  const stayed = { PUBLIC_ORIGIN: cloudflare.origin, ...settings }
  expect(varsOf(cloudflare)).toMatchObject(stayed)
  expect(cloudflare.applications).toMatchObject([
    { max_instances: 5, configuration: { instance_type: "standard-4" } },
    { max_instances: 15, configuration: { instance_type: "basic" } },
    { max_instances: 8, configuration: { instance_type: "basic" } },
    { max_instances: 11, configuration: { instance_type: "basic" } },
    { max_instances: 8, configuration: { instance_type: "standard-2" } },
  ])
  const secrets = new Map(cloudflare.worker?.secrets)

  await machine.deploy([], { LINK_SECONDS: "90" })
  expect(varsOf(cloudflare)).toMatchObject({ ...stayed, LINK_SECONDS: "90" })
  expect(cloudflare.applications[0]).toMatchObject({ max_instances: 5 })

  await machine.deploy([], { RUN_SECONDS_MAX: "", RUNNER_INSTANCES: "" })
  expect(varsOf(cloudflare)).toMatchObject({
    PUBLIC_ORIGIN: cloudflare.origin,
    FETCH_INSTANCE_TYPE: "basic",
    LINK_SECONDS: "90",
  })
  expect(varsOf(cloudflare)).not.toHaveProperty("RUN_SECONDS_MAX")
  expect(cloudflare.applications[0]).toMatchObject({ max_instances: 15 })
  expect(cloudflare.worker?.secrets).toEqual(secrets)
  expect(cloudflare.worker?.versionCount).toBe(3)
})

wideTest(
  "a region applies to all created resources, and replicas follow their setting",
  async () => {
    await machine.deploy([], { REGION: "me", LATHE_NAME: "near" })
    expect(Object.fromEntries(cloudflare.places)).toEqual({ near: "eeur", "near-media": "eeur" })
    expect(varsOf(cloudflare)).toMatchObject({ REGION: "me" })
    for (const application of cloudflare.applications) {
      expect(application).toMatchObject({ constraints: { regions: ["ME"] } })
    }
    expect(cloudflare.databases[0]?.replicas).toBe("auto")
    const changed = await machine.deploy([], { LATHE_NAME: "near", D1_REPLICAS: "disabled" })
    expect(changed.output).toContain("replicas of near: disabled")
    expect(cloudflare.databases[0]?.replicas).toBe("disabled")
    expect(varsOf(cloudflare)).toMatchObject({ REGION: "me", D1_REPLICAS: "disabled" })
    const refused = await machine.deploy([], { REGION: "mars", LATHE_NAME: "near" })
    expect(refused.exitCode).not.toBe(0)
    expect(refused.output).toContain('REGION is "mars": expected one of wnam, enam')
  },
)

wideTest("databases are created and migrated up to DATABASES, which may not fall", async () => {
  const first = await machine.deploy([], { DATABASES: "3" })
  expect(first.output).toContain("D1 database lathe-3")
  expect(first.output).toContain("lathe-3 brought to the newest migration")
  expect(cloudflare.databases.map(({ name }) => name)).toEqual(["lathe", "lathe-2", "lathe-3"])
  for (const database of cloudflare.databases) {
    expect(tablesOf({ ...cloudflare, databases: [database] })).toContain("jobs")
  }
  const bound = cloudflare.worker?.bindings.filter(({ type }) => type === "d1")
  expect(bound?.map(({ name }) => name).toSorted()).toEqual(["DB", "DB_2", "DB_3"])
  const fewer = await machine.deploy([], { DATABASES: "2" })
  expect(fewer.output).toContain("DATABASES is 2, and 3 databases are deployed: it may only rise.")
  expect(fewer.exitCode).toBe(1)
  const again = await machine.deploy()
  expect(again.output).toContain("lathe-3 has every migration")
  expect(varsOf(cloudflare)).toMatchObject({ DATABASES: "3" })
})

const CALLS_OF_EVERY_RUN = ["POST /accounts/*/queues", "POST /accounts/*/containers/applications"]
/** Calls in the order of a deployment, and the sentences that name the step that they belong to. */
const FAILURES: [call: string, sentence: string][] = [
  ["GET /accounts/*/containers/me", "Cloudflare's API failed"],
  ["POST /accounts/*/d1/database", "Storage and queues: failed."],
  ["POST /accounts/*/r2/buckets", "Storage and queues: failed."],
  ["PUT /accounts/*/r2/buckets/*/lifecycle", "Storage and queues: failed."],
  ["POST /accounts/*/queues", "Storage and queues: failed."],
  ["POST /accounts/*/d1/database/*/query", "Database: failed."],
  ["PUT /accounts/*/workers/scripts/*", "Worker and containers: failed."],
  ["POST /accounts/*/containers/applications", "Worker and containers: failed."],
  ["POST /accounts/*/workers/scripts/*/subdomain", "Worker and containers: failed."],
  ["POST /accounts/*/queues/*/consumers", "Worker and containers: failed."],
  ["PUT /accounts/*/workers/scripts/*/schedules", "Worker and containers: failed."],
  ["GET /accounts/*/workers/scripts/*/deployments", "Cloudflare refused GET"],
]

test("a failure of Cloudflare at any step is named, and the next run continues there", async () => {
  const calls = selectCases(
    CALLS_OF_EVERY_RUN,
    FAILURES.map(([call]) => call),
  )
  const failures = FAILURES.filter(([call]) => calls.includes(call))
  for (const [call, sentence] of failures) {
    cloudflare.failing = call
    const { exitCode, output } = await machine.deploy()
    expect(output).toContain(sentence)
    expect(output).toContain("an internal error of Cloudflare")
    expect(exitCode).toBe(1)
  }
  cloudflare.failing = null
  expect(await machine.deploy()).toMatchObject({ exitCode: 0 })
  expect(whatIsThere(cloudflare)).toEqual(EVERYTHING)
  const { output } = await machine.run("keys", ["list", "--remote", cloudflare.origin])
  expect(output).toContain("ACCOUNT")
})

wideTest("another machine updates without the operator token, and can rotate it", async () => {
  await machine.deploy()
  const secrets = new Map(cloudflare.worker?.secrets)
  const other = makeMachine(cloudflare)
  const update = await other.deploy()
  expect(update.exitCode).toBe(0)
  expect(update.output).toContain("npm run deploy -- --rotate-operator-token")
  expect(cloudflare.worker?.secrets).toEqual(secrets)
  const refused = await other.run("keys", ["list", "--remote", cloudflare.origin])
  expect(refused.output).toContain("This machine has no operator token")

  const rotation = await other.deploy(["--rotate-operator-token"])
  expect(rotation.output).toContain("A key: npm run keys")
  const rotated = cloudflare.worker?.secrets
  expect(rotated?.get("OPERATOR_TOKEN")).not.toBe(secrets.get("OPERATOR_TOKEN"))
  expect(rotated?.get("LATHE_SECRET")).toBe(secrets.get("LATHE_SECRET"))
  expect((await machine.deploy()).output).toContain("is not that of the Worker")
  other.remove()
})

wideTest("a custom name and domain apply to all created resources", async () => {
  const environment = { LATHE_NAME: "cutter", LATHE_DOMAIN: "media.acme.invalid" }
  const { exitCode } = await machine.deploy([], environment)
  expect(exitCode).toBe(0)
  const { databases, buckets, queues, applications } = whatIsThere(cloudflare)
  expect(databases).toEqual(["cutter"])
  expect(Object.keys(buckets)).toEqual(["cutter-media"])
  expect(queues).toContain("cutter-webhooks-dead")
  expect(applications).toEqual([
    "cutter-media-runner",
    "cutter-light-runner",
    "cutter-fetch-runner",
    "cutter-lookup-runner",
    "cutter-speech-runner",
  ])
  expect(JSON.stringify(cloudflare.worker?.domains)).toContain('"media.acme.invalid"')

  const forgotten = await machine.deploy()
  expect(forgotten.exitCode).toBe(1)
  expect(forgotten.output).toContain('This machine has deployed "cutter"')
  expect(whatIsThere(cloudflare).databases).toEqual(["cutter"])
})

test("all missing requirements are reported at once, before any change", async () => {
  cloudflare.hasSubdomain = false
  cloudflare.hasContainers = false
  cloudflare.hasR2 = false
  const { exitCode, output } = await machine.deploy([], {
    WRANGLER_DOCKER_BIN: "/nonexistent/docker",
  })
  expect(exitCode).toBe(1)
  expect(output).toContain("has no workers.dev name yet")
  expect(output).toContain("need the Workers Paid plan")
  expect(output).toContain("R2 is switched on once")
  expect(output).toContain("Docker does not respond")
  expect(cloudflare.calls.filter(isChange)).toEqual([])
})

wideTest("one account of the log-in is taken, several ask for CLOUDFLARE_ACCOUNT_ID", async () => {
  cloudflare.hasContainers = false
  const one = await machine.deploy([], { CLOUDFLARE_ACCOUNT_ID: "" })
  expect(one.output).toContain("for containers on account account-1")
  cloudflare.accounts.push({ id: "account-2", name: "Beta" })
  const several = await machine.deploy([], { CLOUDFLARE_ACCOUNT_ID: "" })
  expect(several.exitCode).toBe(1)
  expect(several.output).toContain("set CLOUDFLARE_ACCOUNT_ID to one of")
  expect(several.output).toContain("account-2  Beta")
})

test.each([
  ["without a log-in", { CLOUDFLARE_API_TOKEN: "" }, "No Cloudflare account is logged in"],
  ["with a token that is not valid", { CLOUDFLARE_API_TOKEN: "wrong" }, "Authentication error"],
  ["with a bad setting", { LINK_SECONDS: "soon" }, 'LINK_SECONDS is "soon"'],
  ["with a bad name", { LATHE_NAME: "My Lathe" }, 'LATHE_NAME is "My Lathe"'],
  [
    "with an API that does not respond",
    { CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:9" },
    "does not respond",
  ],
])("%s, one sentence has the remedy", async (_case, environment, sentence) => {
  const { exitCode, output } = await machine.deploy([], environment)
  expect(output).toContain(sentence)
  expect(output).not.toContain("    at ")
  expect(exitCode).toBe(1)
})
