import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, expect, it } from "vitest"
import { PLAN_LIMITS } from "../../src/domain/plans.ts"
import { makeCaller } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"
import { findCallerAccountId } from "../support/media/bundle.ts"

type TaskRow = {
  id: string
  state: string
  fence: number
  slot: string | null
  allocation: number | null
  hand_overs: number
  failures: number
  interruptions: number
}

const pool = env.POOL.getByName("media")
let holder: TestCaller
let newcomer: TestCaller
let holderId: string
let newcomerId: string

beforeAll(async () => {
  holder = await makeCaller("holder", "paid")
  newcomer = await makeCaller("newcomer", "trial")
  ;[holderId, newcomerId] = [await findCallerAccountId(holder), await findCallerAccountId(newcomer)]
})

async function encode(caller: TestCaller): Promise<string> {
  const answer = await caller.post("/commands", {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
  })
  return (await answer.json<{ command_id: string }>()).command_id
}

/** Returns the open tasks of an account, oldest first. */
async function tasksOf(accountId: string): Promise<TaskRow[]> {
  const { results } = await env.DB.prepare(
    "select * from tasks where account_id = ? and state in ('waiting', 'running') order by id",
  )
    .bind(accountId)
    .all<TaskRow>()
  return results
}

async function statesOf(accountId: string): Promise<string[]> {
  return (await tasksOf(accountId)).map(({ state }) => state)
}

async function untilStates(accountId: string, states: string[]): Promise<void> {
  await expect.poll(() => statesOf(accountId)).toEqual(states)
}

/** Ages the wait of an account by the longest run of a trial, and runs the pool's alarm. */
async function letWait(accountId: string): Promise<void> {
  await expect.poll(() => wantedBy(accountId)).toBe(1)
  await runInDurableObject(pool, (_, { storage: { sql } }) => {
    const since = Date.now() - PLAN_LIMITS.trial.runSecondsMax * 1000
    sql.exec("update waiting_accounts set waiting_since = ? where account_id = ?", since, accountId)
  })
  // The restarted object reads the written rows.
  await evictDurableObject(pool)
  await runDurableObjectAlarm(pool)
}

async function wantedBy(accountId: string): Promise<unknown> {
  return await runInDurableObject(pool, (_, { storage: { sql } }) => {
    const query = "select wanted from waiting_accounts where account_id = ?"
    return sql.exec(query, accountId).toArray()[0]?.["wanted"]
  })
}

it("interrupts each task of the account that holds all slots once, youngest first, at no cost", async () => {
  await encode(holder)
  await untilStates(holderId, ["running"])
  await encode(holder)
  await untilStates(holderId, ["running", "running"])
  const [older, younger] = await tasksOf(holderId)
  const first = await encode(newcomer)
  await letWait(newcomerId)
  await untilStates(newcomerId, ["running"])
  expect(await tasksOf(newcomerId)).toMatchObject([{ slot: younger?.slot }])
  expect(await tasksOf(holderId)).toMatchObject([
    { fence: older?.fence, allocation: older?.allocation, hand_overs: 0 },
    { state: "waiting", slot: null, hand_overs: 1, failures: 0, interruptions: 0 },
  ])

  await newcomer.post(`/jobs/${first}/cancel`, {})
  await untilStates(holderId, ["running", "running"])
  const second = await encode(newcomer)
  await letWait(newcomerId)
  await untilStates(newcomerId, ["running"])
  expect(await tasksOf(holderId)).toMatchObject([
    { state: "waiting", hand_overs: 1 },
    { state: "running", hand_overs: 1, fence: 2 },
  ])

  await newcomer.post(`/jobs/${second}/cancel`, {})
  await untilStates(holderId, ["running", "running"])
  const before = await tasksOf(holderId)
  await encode(newcomer)
  await letWait(newcomerId)
  expect(await tasksOf(holderId)).toEqual(before)
  expect(await statesOf(newcomerId)).toEqual(["waiting"])
})

it("changes nothing if the request is repeated or late", async () => {
  const dispatcher = env.DISPATCHER.getByName(holderId)
  const before = await tasksOf(holderId)
  const [task] = before
  const allocation = { id: task?.allocation ?? 0, slot: task?.slot ?? "" }
  expect(await dispatcher.handOver(holderId, allocation)).toBe(false)
  expect(await dispatcher.handOver(holderId, { ...allocation, id: allocation.id - 1 })).toBe(true)
  expect(await dispatcher.handOver(holderId, { ...allocation, slot: "media-9" })).toBe(true)
  expect(await tasksOf(holderId)).toEqual(before)
})

async function sharesOfWaiting(): Promise<unknown> {
  return await runInDurableObject(pool, (_, { storage: { sql } }) =>
    sql.exec("select account_id, slots_share_max as share from waiting_accounts").toArray(),
  )
}

it("sends the pool the share of the plan", async () => {
  await encode(holder)
  await expect.poll(sharesOfWaiting).toEqual(
    expect.arrayContaining([
      { account_id: holderId, share: 1 },
      { account_id: newcomerId, share: 0.5 },
    ]),
  )
})
