import { env } from "cloudflare:workers"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { z } from "zod"
import { newId } from "../../src/platform/ids.ts"
import { sweepDirectly } from "../support/sweep.ts"
import { attemptDelivery } from "../../src/webhooks/deliver.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { insertDelivery } from "../../src/db/deliveries.ts"
import { makeCaller } from "../support/caller.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import {
  explainStatements,
  TABLE_SCAN_STEP,
  makeRecordingEnv,
} from "../support/db/watched-database.ts"

const DAY_MS = 24 * 3_600_000
const mail = z.object({ to: z.string(), subject: z.string(), text: z.string() })

const RECEIVER = "https://receiver.example"

let accountId: string
let email: string
/** Status of each receiver, by host. */
let statuses: Record<string, number>

beforeEach(async () => {
  ;({ accountId, email } = await makeSignedInUser())
  statuses = {}
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const { host } = new URL(new Request(input).url)
    return new Response("word", { status: statuses[host] ?? 500 })
  })
})

afterEach(() => vi.restoreAllMocks())

/** Makes one try of a delivery. */
async function tryAt(url = `${RECEIVER}/hook`, made: { bodyObjectKey?: string } = {}) {
  const id = newId()
  const now = Date.now()
  await insertDelivery(openAccountDatabases(env, accountId), {
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
  await attemptDelivery(env, accountId, id)
}

/** Ages the first failure of all receivers. */
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

/** Runs a sweep and returns the mails to this account's user; with `isDown` none can be sent. */
async function mailsOf({ at = Date.now(), isDown = false } = {}) {
  const mails: z.infer<typeof mail>[] = []
  const MAILS = {
    fetch: async (_: string, init: { body: string }) => {
      if (isDown) return new Response(null, { status: 503 })
      mails.push(mail.parse(JSON.parse(init.body)))
      return new Response()
    },
  }
  await sweepDirectly(Object.assign({}, env, { MAILS }), at)
  return mails.filter(({ to }) => to === email)
}

describe("an outage of a receiver", () => {
  it("is reported in one mail after a day of failed tries", async () => {
    await tryAt()
    await age(DAY_MS / 2)
    await tryAt()
    expect(await mailsOf()).toEqual([])
    await age(DAY_MS / 2)
    await tryAt()
    const [told, ...others] = await mailsOf()
    expect(others).toEqual([])
    expect(told?.subject).toBe(`Webhooks to ${RECEIVER} fail`)
    expect(told?.text).toContain("none of 3 tries succeeded")
    expect(told?.text).toContain("the receiver answered 500")
    expect(told?.text).toContain("waiting deliveries: 3")
    await tryAt()
    expect(await mailsOf({ at: Date.now() + DAY_MS })).toEqual([])
  })

  it("is not reported if it was short, however long ago it was", async () => {
    await tryAt()
    expect(await mailsOf({ at: Date.now() + 2 * DAY_MS })).toEqual([])
  })

  it("ends with a success, and the next one is reported again", async () => {
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

  it("covers its origin alone, and several are reported in one mail", async () => {
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
    expect(told?.text.match(/waiting deliveries: \d+/g)).toEqual([
      "waiting deliveries: 2",
      "waiting deliveries: 2",
    ])
    expect(told?.text).not.toContain("well.example")
  })

  it("is reported an hour later if the mail could not be sent", async () => {
    await tryAt()
    await age(DAY_MS)
    await tryAt()
    expect(await mailsOf({ isDown: true })).toEqual([])
    expect(await mailsOf()).toEqual([])
    expect(await mailsOf({ at: Date.now() + 3_700_000 })).toHaveLength(1)
  })

  it("does not begin with a failure of the service itself", async () => {
    await tryAt(`${RECEIVER}/hook`, { bodyObjectKey: "gone" })
    expect(await outages()).toEqual([])
  })

  it("of an account without users is only logged for the operator", async () => {
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

  it("is deleted with the deliveries", async () => {
    await tryAt()
    await mailsOf({ at: Date.now() + 91 * DAY_MS })
    expect(await outages()).toEqual([])
  })

  it("is read by statements that use indexes", async () => {
    await tryAt()
    await age(DAY_MS)
    await tryAt()
    const { watched, asked } = makeRecordingEnv()
    await sweepDirectly(watched, Date.now())
    const plans = await explainStatements(asked)
    const found = plans.flatMap(({ steps }) => steps)
    for (const index of ["receiver_outages_due", "receiver_outages_by_age", "deliveries_waiting"]) {
      expect(found.some((step) => step.includes(`INDEX ${index} `))).toBe(true)
    }
    // Counts only scans without an index.
    const scans = found.filter((step) => TABLE_SCAN_STEP.test(step))
    expect(scans.filter((step) => !/USING .*INDEX/.test(step))).toEqual([])
  })
})
