import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, describe, expect, it, vi } from "vitest"
import { app } from "../../../src/app.ts"
import { makeSmallestIdAtTime, readCreationTime, newId } from "../../../src/platform/ids.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"

const HOUR_MS = 3_600_000
/** Exceeds the time for which a caller reads the primary after a change. */
const LATER_MS = 11_000

afterEach(() => void vi.restoreAllMocks())

/** Calls the Worker as a caller and records its reads of a replica. */
function watch({ key }: TestCaller, seenAs: (value: unknown) => unknown = (value) => value) {
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

/** Moves time past all earlier ids: ids never go back in time. */
function hoursLater(): void {
  hours += 2
  later(hours * HOUR_MS)
}

async function makeCommand({ post }: TestCaller): Promise<string> {
  const answer = await post("/commands", {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
  })
  return (await answer.json<{ command_id: string }>()).command_id
}

/** Creates a finished job. */
async function makeOver(caller: TestCaller): Promise<string> {
  const id = await makeCommand(caller)
  await caller.post(`/jobs/${id}/cancel`, {})
  return id
}

const READ = "first-unconstrained: select"

describe("lists", () => {
  it.each(["/jobs", "/commands", "/files", "/webhooks/deliveries", "/account/usage"])(
    "%s is read from a replica, unless the caller has just changed something",
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

  it("show a busy caller its own change that a prefetched grant admitted", async () => {
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

  it("of keys are read from the primary, so that revocations show", async () => {
    const { ask, asked } = watch(await makeCaller("lists of keys"))
    expect((await ask("/keys")).status).toBe(200)
    expect(asked).toEqual([])
  })
})

describe("a job", () => {
  it("is read from a replica if it is old and over", async () => {
    const caller = await makeCaller("old")
    const id = await makeOver(caller)
    hoursLater()
    const { ask, asked } = watch(caller)
    expect(await (await ask(`/jobs/${id}`)).json()).toMatchObject({ id, status: "failed" })
    expect(await (await ask(`/commands/${id}`)).json()).toMatchObject({ id, status: "failed" })
    expect(asked).toEqual([READ, READ])
  })

  it("is read from the primary if the replica lacks it or lags", async () => {
    const caller = await makeCaller("behind")
    const id = await makeOver(caller)
    hoursLater()
    const { ask, asked } = watch(caller, (value) => (value === id ? newId() : value))
    expect(await (await ask(`/jobs/${id}`)).json()).toMatchObject({ id, status: "failed" })
    expect(asked).toEqual([READ])
  })

  it("is read from the primary if it is new or its caller has just changed something", async () => {
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

  it("is deleted by the state in the primary", async () => {
    const caller = await makeCaller("removing")
    const id = await makeOver(caller)
    hoursLater()
    const { ask, asked } = watch(caller)
    expect((await ask(`/jobs/${id}`, { method: "DELETE" })).status).toBe(200)
    expect((await ask(`/jobs/${id}`)).status).toBe(404)
    expect(asked).toEqual([])
  })
})

it("an id contains its creation time", () => {
  expect(readCreationTime(makeSmallestIdAtTime(1_795_395_328_911))).toBe(1_795_395_328_911)
})
