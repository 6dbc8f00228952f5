import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import type { Failure } from "../../src/contract/failure.ts"
import type { Operation } from "../../src/api/output/operation.ts"
import { OPERATIONS } from "../../src/api/routes/operations.ts"
import { sweepDirectly } from "../support/sweep.ts"
import { fetchOperatorRoute, makeCaller } from "../support/caller.ts"
import { makeCommandBody } from "../support/media/command-request.ts"
import { insertManyJobs } from "../support/db/many-jobs.ts"
import {
  findPathParameters,
  createExampleResources,
  sendExampleRequest,
} from "../support/operations.ts"
import { recordRowsRead } from "../support/db/rows-read.ts"
import { PROBE_RESULT } from "../support/runner/stand-in-runner.ts"
import { startFakePlainRunner } from "../support/runner/tiny-runner.ts"

const NAME = "many jobs"
const JOBS = 100_000
const OF_OTHERS: Failure = { code: "command_failed", message: "not of this test", lines: [] }
const OF_STATES = { waiting: 5, failed: 20 }
/** Files that one step of the upkeep checks. */
const ROWS_READ_MAX = 3_000

const filtered = OPERATIONS.filter(({ method, path, query }) => {
  return method === "get" && !path.includes("{") && Object.hasOwn(query.shape, "limit")
}).flatMap(queriesOf)
const named = OPERATIONS.map((operation) => [operation.operationId, operation] as const)

beforeAll(async () => {
  const caller = await makeCaller(NAME)
  const account = await env.DB.prepare("select id from accounts where name = ?").bind(NAME).first()
  const { id: accountId } = z.object({ id: z.string() }).parse(account)
  await insertManyJobs({ accountId, jobs: JOBS, ...OF_STATES })
  await createExampleResources(caller)
})

/** Returns the queries of a list: each value of each filter, and times. */
function queriesOf({ path, query }: Operation): string[] {
  const values = Object.entries(query.shape).flatMap(([name, schema]) => {
    const options = z.looseObject({ options: z.array(z.string()) }).safeParse(unwrapped(schema))
    return (options.data?.options ?? []).map((value) => `${name}=${value}`)
  })
  const moments = ["created_after=2026-01-01T00:00:00Z", "created_before=2030-01-01T00:00:00Z"]
  return ["", "offset=1000", ...moments, ...values].map((each) => `${path}?limit=20&${each}`)
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? schema.unwrap() : schema
}

/** Returns statements of some work that read too many rows. */
async function greedyOf(work: () => Promise<void>): Promise<string[]> {
  const readings = await recordRowsRead(work)
  return readings
    .filter(({ rows }) => rows > ROWS_READ_MAX)
    .map(({ rows, sql }) => `${rows} rows: ${sql}`)
}

describe("for an account with 100,000 jobs", () => {
  it.each(filtered)("%s reads few rows", async (query) => {
    const caller = await makeCaller(NAME)
    const greedy = await greedyOf(async () => {
      const answer = await caller.call(query)
      expect([200, 422]).toContain(answer.status)
      await answer.body?.cancel()
    })
    expect(greedy).toEqual([])
  })

  it.each(named)("%s reads few rows", async (_, operation) => {
    const caller = await makeCaller(NAME)
    const parameters = await findPathParameters(caller, operation)
    const greedy = await greedyOf(async () => {
      const answer = await sendExampleRequest(operation, parameters, { "x-api-key": caller.key })
      await answer.body?.cancel()
    })
    expect(greedy).toEqual([])
  })

  it("an upload and a command read few rows from create to end", async () => {
    const caller = await makeCaller(NAME)
    startFakePlainRunner(async ({ work: { kind, outputs: declared = [] } }) => {
      if (kind === "probe") return { result: PROBE_RESULT }
      // Jobs of earlier tests reach the runner too.
      const isThis = kind === "command" && declared.some(({ key }) => key === "out_1")
      if (!isThis) return { failure: OF_OTHERS }
      const outputs = [{ key: "out_1", size_bytes: 1, content_type: "video/mp4" }]
      return { outputs: { out_1: "x" }, result: { kind, outputs } }
    })
    const headers = { prefer: "wait=20" }
    const greedy = await greedyOf(async () => {
      const form = new FormData()
      form.append("file", new File(["x"], "clip.mp4"))
      const file = await caller.call("/files", { method: "POST", headers, body: form })
      const { id } = await file.json<{ id: string }>()
      const command = await caller.call("/commands", {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(makeCommandBody(id)),
      })
      expect(await command.json()).toMatchObject({ status: "success" })
    })
    expect(greedy).toEqual([])
  })

  it("a sweep reads few rows", async () => {
    expect(await greedyOf(() => sweepDirectly(env, Date.now()))).toEqual([])
  })

  it.each(["/accounts", "/accounts?search=many", "/plans", "/keys?account=many%20jobs"])(
    "the operator's %s reads few rows",
    async (path) => {
      const greedy = await greedyOf(async () => {
        const answer = await fetchOperatorRoute(path)
        await answer.body?.cancel()
      })
      expect(greedy).toEqual([])
    },
  )
})
