import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, describe, expect, it, vi } from "vitest"
import { app } from "../../src/app.ts"
import { firstIdAt, madeAt, newId } from "../../src/ids.ts"
import { makeCaller } from "../support/caller.ts"
import type { Caller } from "../support/caller.ts"

const HOUR_MS = 3_600_000
/** Longer than who changed something reads the primary. */
const LATER_MS = 11_000

afterEach(() => void vi.restoreAllMocks())

/** The Worker as a caller asks it, with what its reads of a replica are noted in. */
function watch({ key }: Caller, seenAs: (value: unknown) => unknown = (value) => value) {
  const asked: string[] = []
  function watched(statement: D1PreparedStatement): D1PreparedStatement {
    const bind = statement.bind.bind(statement)
    statement.bind = (...values) => bind(...values.map(seenAs))
    return statement
  }
  const DB = new Proxy(env.DB, {
    get(database, name) {
      if (name === "withSession") {
        return (constraint: string) => {
          const session = database.withSession(constraint)
          return {
            prepare(sql: string) {
              asked.push(`${constraint}: ${sql.slice(0, 6)}`)
              return watched(session.prepare(sql))
            },
          }
        }
      }
      const member: unknown = Reflect.get(database, name)
      return typeof member === "function"
        ? (...given: unknown[]): unknown => Reflect.apply(member, database, given)
        : member
    },
  })
  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { "x-api-key": key, "content-type": "application/json" }
    const request = new Request(`https://lathe.test/v1${path}`, { ...init, headers })
    return await app.fetch(request, { ...env, DB }, createExecutionContext())
  }
  return { ask, asked }
}

function later(ms: number): void {
  const now = Date.now.bind(Date)
  vi.spyOn(Date, "now").mockImplementation(() => now() + ms)
}

let hours = 0

/** Later than all before, since ids never go back in time. */
function hoursLater(): void {
  hours += 2
  later(hours * HOUR_MS)
}

async function makeCommand({ post }: Caller): Promise<string> {
  const answer = await post("/commands", {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
  })
  return (await answer.json<{ command_id: string }>()).command_id
}

/** A job that is over. */
async function makeOver(caller: Caller): Promise<string> {
  const id = await makeCommand(caller)
  await caller.post(`/jobs/${id}/cancel`, {})
  return id
}

const READ = "first-unconstrained: select"

describe("lists", () => {
  it.each(["/jobs", "/commands", "/files", "/webhooks/deliveries", "/account/usage"])(
    "%s comes from a replica, but not for who has just changed something",
    async (path) => {
      const caller = await makeCaller(`lists ${path}`)
      const { ask, asked } = watch(caller)
      expect((await ask(path)).status).toBe(200)
      expect(asked).toEqual([READ])
      await ask("/jobs/none/cancel", { method: "POST", body: "{}" })
      expect((await ask(path)).status).toBe(200)
      expect(asked).toEqual([READ])
      later(LATER_MS)
      expect((await ask(path)).status).toBe(200)
      expect(asked).toEqual([READ, READ])
    },
  )

  it("show a busy caller what a request has changed that was granted ahead", async () => {
    const caller = await makeCaller("busy and changing")
    const { ask, asked } = watch(caller)
    for (let made = 0; made < 60; made += 1) await ask("/nothing-is-here")
    const answer = await ask("/commands", {
      method: "POST",
      body: JSON.stringify({
        ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
        input_files: {},
        output_files: { out_1: "out.mp4" },
      }),
    })
    const { command_id: id } = await answer.json<{ command_id: string }>()
    const listed = await (await ask("/commands")).json<{ id: string }[]>()
    expect(listed.map((each) => each.id)).toEqual([id])
    expect(asked).toEqual([])
  })

  it("do not come from one for keys, whose revocation is to be seen", async () => {
    const { ask, asked } = watch(await makeCaller("lists of keys"))
    expect((await ask("/keys")).status).toBe(200)
    expect(asked).toEqual([])
  })
})

describe("a job", () => {
  it("that is over and old comes from a replica", async () => {
    const caller = await makeCaller("old")
    const id = await makeOver(caller)
    hoursLater()
    const { ask, asked } = watch(caller)
    expect(await (await ask(`/jobs/${id}`)).json()).toMatchObject({ id, status: "failed" })
    expect(await (await ask(`/commands/${id}`)).json()).toMatchObject({ id, status: "failed" })
    expect(asked).toEqual([READ, READ])
  })

  it("that a replica has not, or not as it is, comes from the primary", async () => {
    const caller = await makeCaller("behind")
    const id = await makeOver(caller)
    hoursLater()
    const { ask, asked } = watch(caller, (value) => (value === id ? newId() : value))
    expect(await (await ask(`/jobs/${id}`)).json()).toMatchObject({ id, status: "failed" })
    expect(asked).toEqual([READ])
  })

  it("that is new, or whose caller has just changed something, comes from the primary", async () => {
    const caller = await makeCaller("new")
    const id = await makeOver(caller)
    const { ask, asked } = watch(caller)
    later(LATER_MS)
    expect((await ask(`/jobs/${id}`)).status).toBe(200)
    vi.restoreAllMocks()
    hoursLater()
    await ask("/jobs/none/cancel", { method: "POST", body: "{}" })
    expect((await ask(`/jobs/${id}`)).status).toBe(200)
    expect(asked).toEqual([])
  })

  it("is removed by what the primary says of it", async () => {
    const caller = await makeCaller("removing")
    const id = await makeOver(caller)
    hoursLater()
    const { ask, asked } = watch(caller)
    expect((await ask(`/jobs/${id}`, { method: "DELETE" })).status).toBe(200)
    expect((await ask(`/jobs/${id}`)).status).toBe(404)
    expect(asked).toEqual([])
  })
})

it("an id says when it was made", () => {
  expect(madeAt(firstIdAt(1_795_395_328_911))).toBe(1_795_395_328_911)
})
