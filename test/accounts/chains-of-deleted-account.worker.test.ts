import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { beginAccountDeletion } from "../../src/accounts/deletion.ts"
import { decompressText } from "../../src/db/values/compressed-text.ts"
import { countAccountRows } from "../support/accounts/account-rows.ts"
import { makeCaller } from "../support/caller.ts"
import { createBatchOfCopies, createCopy, endCopy } from "../support/chains.ts"
import { findCallerAccountId } from "../support/media/bundle.ts"
import { sweepDirectly } from "../support/sweep.ts"

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const HOOK = "https://receiver.example/batch"

it("a deleted account has its waiting jobs and batches canceled, told and removed", async () => {
  const caller = await makeCaller("deleted with chains")
  const accountId = await findCallerAccountId(caller)
  const first = await createCopy(caller, [], { webhook: HOOK })
  const second = await createCopy(caller, [first], { webhook: HOOK })
  await createCopy(caller, [second], { webhook: HOOK })
  const needs = { film: [], left: ["film"], right: ["film"], join: ["left", "right"] }
  const { id, jobs } = await createBatchOfCopies(caller, needs, { webhook: HOOK })
  await endCopy(accountId, jobs["film"] ?? "")
  await beginAccountDeletion(env, accountId)
  const states = await env.DB.prepare(
    "select state, count(*) as n from jobs where account_id = ? group by state order by state",
  )
    .bind(accountId)
    .all()
  expect(states.results).toEqual([
    { state: "canceled", n: 6 },
    { state: "succeeded", n: 1 },
  ])
  const now = Date.now()
  for (let sweeps = 0; sweeps < 5; sweeps += 1) await sweepDirectly(env, now + sweeps)
  const { results: told } = await env.DB.prepare(
    "select type, body from deliveries where account_id = ? and job_id = ?",
  )
    .bind(accountId, id)
    .all<{ type: string; body: unknown }>()
  expect(told.map(({ type }) => type)).toEqual(["batch.failed"])
  expect(JSON.parse(decompressText(told[0]?.body))).toMatchObject({
    data: { id, open_jobs: 0, failed_jobs: 3, jobs: { film: { status: "completed" } } },
  })
  const left = await countAccountRows(accountId)
  expect([left["jobs"], left["batches"], left["job_dependencies"]]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  await sweepDirectly(env, now + DAY_MS + HOUR_MS)
  expect(await countAccountRows(accountId)).toEqual({})
})
