import { env } from "cloudflare:workers"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { z } from "zod"
import { newId } from "../../../src/ids.ts"
import { sweep } from "../../support/sweep.ts"
import { deliver } from "../../../src/pipeline/webhooks/deliver.ts"
import { databaseOf } from "../../../src/storage/database.ts"
import { insertDelivery } from "../../../src/storage/deliveries.ts"
import { makeCaller } from "../../support/caller.ts"
import { signIn } from "../../support/signed-in.ts"
import { plansOf, SCAN_OF_TABLE, watchedEnv } from "../../support/watched-database.ts"

const DAY_MS = 24 * 3_600_000
const mail = z.object({ to: z.string(), subject: z.string(), text: z.string() })

const RECEIVER = "https://receiver.example"

let accountId: string
let email: string
/** What each receiver answers, by its host. */
let statuses: Record<string, number>

beforeEach(async () => {
  ;({ accountId, email } = await signIn())
  statuses = {}
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const { host } = new URL(new Request(input).url)
    return new Response("word", { status: statuses[host] ?? 500 })
  })
})

afterEach(() => vi.restoreAllMocks())

/** Has a delivery tried once. */
async function tryAt(url = `${RECEIVER}/hook`, made: { bodyObjectKey?: string } = {}) {
  const id = newId()
  const now = Date.now()
  await insertDelivery(databaseOf(env, accountId), {
    id,
    jobId: null,
    type: "command.succeeded",
    url,
    body: "{}",
    state: "waiting",
    nextTryAt: now,
    createdAt: now,
    ...made,
  })
  await deliver(env, accountId, id)
}

/** Has the first failure of all receivers lie further back. */
async function age(ms: number) {
  await env.DB.prepare(
    "update receiver_outages set failing_since = failing_since - ? where account_id = ?",
  )
    .bind(ms, accountId)
    .run()
}

async function outages(): Promise<Record<string, unknown>[]> {
  const statement = env.DB.prepare("select * from receiver_outages where account_id = ?")
  return (await statement.bind(accountId).all()).results
}

/** Sweeps and answers the mails to this account's user; `isDown` has none of them sent. */
async function mailsOf({ at = Date.now(), isDown = false } = {}) {
  const mails: z.infer<typeof mail>[] = []
  const MAILS = {
    fetch: async (_: string, init: { body: string }) => {
      if (isDown) return new Response(null, { status: 503 })
      mails.push(mail.parse(JSON.parse(init.body)))
      return new Response()
    },
  }
  await sweep(Object.assign({}, env, { MAILS }), at)
  return mails.filter(({ to }) => to === email)
}

describe("an outage of a receiver", () => {
  it("is told of in one mail once tries failed for a day", async () => {
    await tryAt()
    await age(DAY_MS / 2)
    await tryAt()
    expect(await mailsOf()).toEqual([])
    await age(DAY_MS / 2)
    await tryAt()
    const [told, ...others] = await mailsOf()
    expect(others).toEqual([])
    expect(told?.subject).toBe(`Webhooks to ${RECEIVER} fail`)
    expect(told?.text).toContain("3 tries, and none succeeded")
    expect(told?.text).toContain("it answered 500")
    expect(told?.text).toContain("wait for their next try: 3")
    await tryAt()
    expect(await mailsOf({ at: Date.now() + DAY_MS })).toEqual([])
  })

  it("is not one of a day where it was short, however long ago it was", async () => {
    await tryAt()
    expect(await mailsOf({ at: Date.now() + 2 * DAY_MS })).toEqual([])
  })

  it("ends with a success, and the next one is told of again", async () => {
    async function fail() {
      await tryAt()
      await age(DAY_MS)
      await tryAt()
    }
    await fail()
    expect(await mailsOf()).toHaveLength(1)
    statuses = { "receiver.example": 200 }
    await tryAt()
    expect(await outages()).toEqual([])
    statuses = {}
    await tryAt()
    expect(await mailsOf()).toEqual([])
    await age(DAY_MS)
    await tryAt()
    expect(await mailsOf()).toHaveLength(1)
  })

  it("is of its origin alone, and several are told of in one mail", async () => {
    statuses = { "well.example": 200 }
    for (const host of ["receiver.example", "receiver.example:8443", "well.example"]) {
      await tryAt(`https://${host}/hook`)
    }
    await tryAt(`${RECEIVER}.example/hook`)
    await env.DB.prepare("update receiver_outages set failing_since = 1 where account_id = ?")
      .bind(accountId)
      .run()
    await tryAt(`${RECEIVER}/other`)
    await tryAt(`${RECEIVER}:8443/`)
    const [told, ...others] = await mailsOf()
    expect(others).toEqual([])
    expect(told?.subject).toBe("Webhooks to 2 receivers fail")
    expect(told?.text).toContain(`${RECEIVER}\n`)
    expect(told?.text).toContain(`${RECEIVER}:8443\n`)
    expect(told?.text.match(/next try: \d+/g)).toEqual(["next try: 2", "next try: 2"])
    expect(told?.text).not.toContain("well.example")
  })

  it("is told of an hour later where the mail could not be sent", async () => {
    await tryAt()
    await age(DAY_MS)
    await tryAt()
    expect(await mailsOf({ isDown: true })).toEqual([])
    expect(await mailsOf()).toEqual([])
    expect(await mailsOf({ at: Date.now() + 3_700_000 })).toHaveLength(1)
  })

  it("does not come of what the service itself could not do", async () => {
    await tryAt(`${RECEIVER}/hook`, { bodyObjectKey: "gone" })
    expect(await outages()).toEqual([])
  })

  it("of an account without users is told to the operator alone, by the log", async () => {
    await makeCaller("nobody's")
    const row = env.DB.prepare(`select id from accounts where name = "nobody's"`)
    accountId = String(await row.first("id"))
    await tryAt()
    await age(DAY_MS)
    await tryAt()
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined)
    expect(await mailsOf()).toEqual([])
    const lines = warned.mock.calls.map(([line]) => String(line))
    expect(lines.filter((line) => line.includes(accountId))).toHaveLength(1)
    expect(lines.find((line) => line.includes(accountId))).toContain("webhooks.receiver_fails")
    expect(await outages()).toMatchObject([{ due_at: null }])
  })

  it("is forgotten with the deliveries", async () => {
    await tryAt()
    await mailsOf({ at: Date.now() + 91 * DAY_MS })
    expect(await outages()).toEqual([])
  })

  it("is told of by statements that are on indexes", async () => {
    await tryAt()
    await age(DAY_MS)
    await tryAt()
    const { watched, asked } = watchedEnv()
    await sweep(watched, Date.now())
    const plans = await plansOf(asked)
    const found = plans.flatMap(({ steps }) => steps)
    for (const index of ["receiver_outages_due", "receiver_outages_by_age", "deliveries_waiting"]) {
      expect(found.some((step) => step.includes(`INDEX ${index} `))).toBe(true)
    }
    // Counted are the rows that an index found before.
    const scans = found.filter((step) => SCAN_OF_TABLE.test(step))
    expect(scans.filter((step) => !/USING .*INDEX/.test(step))).toEqual([])
  })
})
