import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { hashApiKey } from "../../src/platform/crypto/api-key.ts"
import type { Env } from "../../src/bindings/env.ts"
import { RateLimiter } from "../../src/accounts/rate-limit/rate-limiter.ts"
import { beginAccountDeletion } from "../../src/accounts/deletion.ts"
import { assignPlanByAccountName, assignPlanByAccountId } from "../../src/accounts/assign-plan.ts"
import { revokeApiKey } from "../../src/accounts/keys.ts"
import { makeCaller } from "../support/caller.ts"

const RAISED = 9
const JOBS = 40

/** Returns an environment whose database responds only after `letAnswer`. */
function slowEnv(): { slow: Env; asked: Promise<void>; letAnswer: () => void } {
  const [asked, may] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  async function answerLate(answer: Promise<unknown>): Promise<unknown> {
    const made = await answer
    asked.resolve()
    await may.promise
    return made
  }
  const DB = new Proxy(env.DB, {
    get: (database, name) => (sql: string) =>
      name === "prepare" ? lateStatement(database.prepare(sql), answerLate) : undefined,
  })
  return { slow: { ...env, DB }, asked: asked.promise, letAnswer: () => may.resolve() }
}

function lateStatement(
  statement: D1PreparedStatement,
  answerLate: (answer: Promise<unknown>) => Promise<unknown>,
): D1PreparedStatement {
  return new Proxy(statement, {
    get(known, name) {
      if (name === "bind") {
        return (...values: unknown[]) => lateStatement(known.bind(...values), answerLate)
      }
      return name === "raw" ? () => answerLate(known.raw()) : () => answerLate(known.all())
    },
  })
}

async function accountOf(name: string): Promise<string> {
  const id = await env.DB.prepare("select id from accounts where name = ?").bind(name).first("id")
  return String(id)
}

describe("a lookup of a key in progress", () => {
  it("does not restore a key that was revoked meanwhile", async () => {
    const { id, key } = await makeCaller("revoked meanwhile")
    const hash = await hashApiKey(key)
    const { slow, asked, letAnswer } = slowEnv()
    const stub = env.RATE_LIMITER.getByName(crypto.randomUUID())
    await runInDurableObject(stub, async (_, state) => {
      const limiter = new RateLimiter(state, slow)
      const early = limiter.take(hash)
      await asked
      await revokeApiKey(env, id)
      await limiter.forget()
      letAnswer()
      expect(await early).toBeNull()
      expect(await limiter.take(hash)).toBeNull()
    })
  })

  it("is shared by simultaneous requests", async () => {
    const { key } = await makeCaller("asked at once")
    const hash = await hashApiKey(key)
    await runInDurableObject(env.RATE_LIMITER.getByName(hash), async (_, state) => {
      let count = 0
      const DB = new Proxy(env.DB, {
        get: (database, name) => (asked: never) => {
          count += 1
          return name === "prepare" ? database.prepare(asked) : database.batch(asked)
        },
      })
      const limiter = new RateLimiter(state, { ...env, DB })
      const taken = await Promise.all(Array.from({ length: 20 }, () => limiter.take(hash)))
      expect(taken.filter((each) => each?.caller)).toHaveLength(20)
      expect(count).toBe(1)
    })
  })
})

describe("a revocation whose call to the limiter was lost", () => {
  it("takes effect within a second", async () => {
    const { id, key, call } = await makeCaller("revoked unheard")
    expect(await hashApiKey(key)).toHaveLength(64)
    expect((await call("/files")).status).toBe(200)
    await env.DB.prepare("update keys set revoked_at = 1 where id = ?").bind(id).run()
    await expect.poll(async () => (await call("/files")).status).toBe(401)
  })
})

describe("a change of plan", () => {
  it("fails if no account has the name", async () => {
    expect(await assignPlanByAccountName(env, "nobody", "paid")).toBeNull()
  })

  it("fails for a plan or an account that was deleted meanwhile", async () => {
    await makeCaller("plan gone")
    const id = await accountOf("plan gone")
    expect(await assignPlanByAccountName(env, "plan gone", "deleted-plan")).toBeNull()
    expect(await assignPlanByAccountId(env, id, "deleted-plan")).toBe(false)
    await beginAccountDeletion(env, id)
    expect(await assignPlanByAccountName(env, id, "paid")).toBeNull()
    const row = env.DB.prepare("select plan from accounts where id = ?").bind(id)
    expect(await row.first("plan")).toBe("trial")
  })

  it("changes the limits of a key at its next request", async () => {
    const { call } = await makeCaller("other plan", "trial")
    expect((await call("/files")).headers.get("ratelimit-policy")).toContain("q=20000")
    expect(await assignPlanByAccountName(env, "other plan", "paid")).toMatchObject({ plan: "paid" })
    expect((await call("/files")).headers.get("ratelimit-policy")).toContain("q=5;")
  })

  it("leaves a key beyond its new limit with zero requests, not fewer", async () => {
    const { call } = await makeCaller("lower plan", "trial")
    for (let used = 0; used < RAISED; used += 1) await call("/files")
    await assignPlanByAccountName(env, "lower plan", "paid")
    const refused = await call("/files")
    expect([refused.status, refused.headers.get("ratelimit")]).toEqual([
      429,
      expect.stringMatching(/r=0;/),
    ])
  })

  it("changes the number of concurrent jobs although the dispatcher cached the old plan", async () => {
    const { post } = await makeCaller("more at once", "trial")
    const accountId = await accountOf("more at once")
    for (let made = 0; made < JOBS; made += 1) {
      const answer = await post("/commands", {
        ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
        input_files: {},
        output_files: { out_1: "out.mp4" },
      })
      expect(answer.status).toBe(202)
    }
    // The pool of these tests has two slots; it notes the unmet demand.
    await expect.poll(() => wantedBy(accountId)).toBe(2)
    await assignPlanByAccountName(env, "more at once", "paid")
    await expect.poll(() => wantedBy(accountId)).toBe(30)
  })
})

async function wantedBy(accountId: string): Promise<unknown> {
  return await runInDurableObject(env.POOL.getByName("media"), (_, { storage: { sql } }) => {
    const rows = sql
      .exec("select wanted from waiting_accounts where account_id = ?", accountId)
      .toArray()
    return rows[0]?.["wanted"]
  })
}
