import { listDurableObjectIds } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { makeUnauthenticatedRequests } from "../../support/accounts/unauthenticated-requests.ts"
import { makePerson, makeService, ORIGIN } from "../../accounts/sign-in/visitor.ts"

const REQUESTS = 1000
const ROWS_MAX = 10
/** Window in which sign-in attempts are counted. */
const WINDOW_MS = 60_000
const SIGN_IN_PROVIDERS = JSON.stringify({
  github: { clientId: "github-client", clientSecret: "github-secret" },
})

async function countRows(): Promise<Record<string, number>> {
  const listed = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like 'd1_%' and name not like '\\_cf%' escape '\\' and name not like 'sqlite%'",
  ).all<{ name: string }>()
  const counts = listed.results.map(async ({ name }) => {
    const count = await env.DB.prepare(`select count(*) as n from ${name}`).first<number>("n")
    return [name, count ?? 0] as const
  })
  return Object.fromEntries(await Promise.all(counts))
}

async function countObjects(): Promise<number> {
  const ids = await Promise.all([
    listDurableObjectIds(env.RATE_LIMITER),
    listDurableObjectIds(env.DISPATCHER),
    listDurableObjectIds(env.POOL),
  ])
  return ids.flat().length
}

/** Returns the tables that have more rows than before, with the difference. */
function added(before: Record<string, number>, after: Record<string, number>) {
  const names = Object.keys(after)
  return names.flatMap((name) => {
    const more = (after[name] ?? 0) - (before[name] ?? 0)
    return more > 0 ? [{ name, more }] : []
  })
}

describe("requests without a key or a session to routes of all kinds", () => {
  it.each(["closed", "invitation", "open"])(
    "leave almost no rows if sign-up is %s",
    async (mode) => {
      const { email } = await makePerson(makeService({ SIGN_UP: "open" }))
      const service = makeService({ SIGN_UP: mode, SIGN_IN_PROVIDERS })
      const before = { rows: await countRows(), objects: await countObjects() }
      const startedAt = Date.now()
      const failed: unknown[] = []
      for (const { path, kind, init } of makeUnauthenticatedRequests(REQUESTS, {
        origin: ORIGIN,
        email,
      })) {
        const headers = new Headers(init.headers)
        headers.set("cf-connecting-ip", `2001:db8:${mode.length}:7::${REQUESTS}`)
        const answer = await service.ask(path, { ...init, headers })
        await answer.body?.cancel()
        if (answer.status >= 500) failed.push([kind, path, answer.status])
      }
      const windows = Math.ceil((Date.now() - startedAt) / WINDOW_MS)
      expect(failed).toEqual([])
      const left = added(before.rows, await countRows())
      const rows = left.reduce((sum, { more }) => sum + more, 0)
      expect({ left, isFew: rows <= ROWS_MAX * windows }).toEqual({ left, isFew: true })
      expect(await countObjects()).toBe(before.objects)
      expect((await env.MEDIA.list()).objects).toEqual([])
    },
  )
})
