import { env } from "cloudflare:workers"
import { abortAllDurableObjects } from "cloudflare:test"
import { beforeAll, describe, expect, it } from "vitest"
import { makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"

type Job = { id: string; kind: string; status: string; error?: { code: string } }

let caller: TestCaller
let stranger: TestCaller

beforeAll(async () => {
  caller = await makeCaller("jobs")
  stranger = await makeCaller("a stranger to jobs")
})

async function makeCommand(by: TestCaller, more: Record<string, unknown> = {}): Promise<string> {
  const answer = await by.post("/commands", {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
    ...more,
  })
  return (await answer.json<{ command_id: string }>()).command_id
}

async function makeFile(by: TestCaller, content = "x"): Promise<string> {
  const body = new FormData()
  body.append("file", new File([content], "clip.mp4"))
  return (await (await by.call("/files", { method: "POST", body })).json<{ id: string }>()).id
}

async function cancel(id: string): Promise<Response> {
  return await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
}

async function list(path: string) {
  const answer = await caller.call(path)
  expect(answer.status).toBe(200)
  return { jobs: await answer.json<Job[]>(), link: answer.headers.get("link") }
}

async function countRows(table: string, column: string, id: string) {
  const query = `select count(*) as n from ${table} where ${column} = ?`
  return await env.DB.prepare(query).bind(id).first<number>("n")
}

const ROUTES = [
  ["GET", ""],
  ["GET", "/events"],
  ["GET", "/log"],
  ["POST", "/cancel"],
  ["POST", "/retry"],
  ["DELETE", ""],
] as const

describe.each(ROUTES)("%s /jobs/{id}%s", (method, rest) => {
  it("answers 404 for a malformed id, an unknown id and another account's id", async () => {
    const theirs = await makeCommand(stranger)
    for (const id of ["7", crypto.randomUUID(), theirs]) {
      const answer = await caller.call(`/jobs/${id}${rest}`, { method })
      expect(answer.status).toBe(404)
      expect(await answer.json()).toMatchObject({ code: "not_found", error: { code: "not_found" } })
    }
    expect((await stranger.call(`/jobs/${theirs}`)).status).toBe(200)
  })

  it("answers 405 with Allow for another method", async () => {
    const answer = await caller.call(`/jobs/${crypto.randomUUID()}${rest}`, { method: "PUT" })
    expect(answer.status).toBe(405)
    expect(answer.headers.get("allow")).toContain(method)
  })
})

describe("GET /jobs", () => {
  it("lists jobs of every kind, newest first", async () => {
    const made = [await makeFile(caller), await makeCommand(caller)]
    const { jobs } = await list("/jobs?limit=2")
    expect(jobs.map(({ id }) => id)).toEqual(made.toReversed())
    expect(jobs.map(({ kind }) => kind)).toEqual(["command", "file"])
  })

  it("filters by kind and status, and keeps the filters in the next page's link", async () => {
    const [older, newer] = [await makeCommand(caller), await makeCommand(caller)]
    await makeFile(caller)
    for (const id of [older, newer]) await cancel(id)
    const path = "/jobs?kind=command&status=failed&limit=1"
    const { jobs, link } = await list(`${path}&key=${caller.key}`)
    expect(jobs).toMatchObject([{ id: newer, status: "failed", error: { code: "canceled" } }])
    expect(link).not.toContain(caller.key)
    const next = new URL(/<(.*)>/.exec(link ?? "")?.[1] ?? "")
    expect(next.searchParams.get("kind")).toBe("command")
    expect((await list(`/jobs${next.search}`)).jobs).toMatchObject([{ id: older }])
    expect((await list("/jobs?status=completed")).jobs).toEqual([])
  })

  it.each(["kind=film", "status=success", "limit=0", "cursor=x"])(
    "answers 422 for %s",
    async (query) => {
      const answer = await caller.call(`/jobs?${query}`)
      expect(answer.status).toBe(422)
      const field = query.split("=")[0]
      expect(await answer.json()).toMatchObject({ details: [{ field }] })
    },
  )
})

describe("POST /jobs/{id}/cancel", () => {
  it("answers the Job with 200, and 409 for a finished job", async () => {
    const id = await makeCommand(caller)
    const answer = await cancel(id)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ id, status: "failed", error: { code: "canceled" } })
    const again = await cancel(id)
    expect(again.status).toBe(409)
    expect(await again.json()).toMatchObject({ code: "already_final" })
  })

  it("leaves the file of a canceled probe stored and usable", async () => {
    const id = await makeFile(caller)
    expect((await cancel(id)).status).toBe(200)
    const file = await (await caller.call(`/files/${id}`)).json()
    expect(file).toMatchObject({ status: "failed", error_code: "canceled", size_bytes: 1 })
    expect((await caller.call(`/files/${id}/clip.mp4`)).status).toBe(302)
  })
})

describe("POST /jobs/{id}/retry", () => {
  async function retry(id: string, headers: Record<string, string> = {}): Promise<Response> {
    return await caller.call(`/jobs/${id}/retry`, { method: "POST", headers })
  }

  it("answers 409 while the job runs", async () => {
    const answer = await retry(await makeCommand(caller))
    expect(answer.status).toBe(409)
    expect(await answer.json()).toMatchObject({ code: "not_final" })
  })

  it("creates a new job of the same request, once per key", async () => {
    const id = await makeCommand(caller, { metadata: { a: "b" }, priority: 7 })
    await cancel(id)
    const headers = { "idempotency-key": crypto.randomUUID() }
    const answers = [await retry(id, headers), await retry(id, headers)]
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    const [first, second] = await Promise.all(answers.map((answer) => answer.json<Job>()))
    expect(first).toMatchObject({ kind: "command", retry_of: id, metadata: { a: "b" } })
    expect(second?.id).toBe(first?.id)
    const [before, after] = await Promise.all(
      [id, first?.id].map((each) =>
        env.DB.prepare("select request, priority from jobs where id = ?").bind(each).first(),
      ),
    )
    expect(after).toEqual(before)
  })

  it("answers 422 and names a missing input", async () => {
    const fileId = await makeFile(caller)
    const id = await makeCommand(caller, {
      ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}",
      input_files: { in_1: `svc_id://${fileId}` },
    })
    await cancel(id)
    expect((await caller.call(`/files/${fileId}`, { method: "DELETE" })).status).toBe(200)
    const answer = await retry(id)
    expect(answer.status).toBe(422)
    expect(await answer.json()).toMatchObject({ details: [{ field: "input_files.in_1" }] })
  })

  it("copies all parts of a multipart file", async () => {
    const content = "0123456789abcdef".repeat(1_200_000)
    const id = await makeFile(caller, content)
    await cancel(id)
    const copy = await (await retry(id)).json<Job>()
    await caller.call(`/files/${id}`, { method: "DELETE" })
    const { objectKey } = (await env.DB.prepare(
      "select object_key as objectKey from files where id = ?",
    )
      .bind(copy.id)
      .first<{ objectKey: string }>()) ?? { objectKey: "" }
    const stored = await env.MEDIA.get(objectKey)
    expect((await stored?.text()) === content).toBe(true)
    expect(await countRows("uploads", "object_key", objectKey)).toBe(0)
  })
})

describe("DELETE", () => {
  it.each(["jobs", "commands"])("of /%s/{id} leaves no row of the job", async (room) => {
    const id = await makeCommand(caller)
    const answer = await caller.call(`/${room}/${id}`, { method: "DELETE" })
    expect([answer.status, await answer.json()]).toEqual([200, {}])
    for (const table of ["tasks", "files", "deliveries"]) {
      expect(await countRows(table, "job_id", id)).toBe(0)
    }
    expect((await caller.call(`/${room}/${id}`)).status).toBe(404)
    expect((await caller.call(`/${room}/${id}`, { method: "DELETE" })).status).toBe(404)
  })

  it.each(["jobs", "files"])(
    "of /%s/{id} removes a file and cancels its job first",
    async (room) => {
      const id = await makeFile(caller)
      await env.DB.prepare("update jobs set webhook_url = ? where id = ?")
        .bind("http://127.0.0.1:9/", id)
        .run()
      expect((await caller.call(`/${room}/${id}`, { method: "DELETE" })).status).toBe(200)
      expect((await caller.call(`/files/${id}`)).status).toBe(404)
      expect((await caller.call(`/jobs/${id}`)).status).toBe(404)
      expect(await countRows("deliveries", "job_id", id)).toBe(1)
    },
  )

  it("of /commands/{id} answers 404 for a job of another kind or account", async () => {
    for (const id of [await makeFile(caller), await makeCommand(stranger)]) {
      expect((await caller.call(`/commands/${id}`, { method: "DELETE" })).status).toBe(404)
    }
  })
})

describe("Prefer", () => {
  async function read(id: string, prefer: string): Promise<Response> {
    return await caller.call(`/jobs/${id}`, { headers: { prefer } })
  }

  it.each([
    ["wait=0", "wait=0"],
    ["respond-async, wait=600", "wait=60"],
    ['wait="5"; foo', "wait=5"],
  ])("honours %s", async (prefer, applied) => {
    const id = await makeCommand(caller)
    await cancel(id)
    expect((await read(id, prefer)).headers.get("preference-applied")).toBe(applied)
  })

  it.each(["wait", "wait=soon", "wait=-1", "wait=1.5", "await=5", "respond-async"])(
    "ignores %s",
    async (prefer) => {
      const answer = await read(await makeCommand(caller), prefer)
      expect(answer.status).toBe(200)
      expect(answer.headers.has("preference-applied")).toBe(false)
    },
  )

  it("adds the record to the answer of a create", async () => {
    const answer = await caller.call("/commands", {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "wait=0" },
      body: JSON.stringify({
        ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
        input_files: {},
        output_files: { out_1: "out.mp4" },
      }),
    })
    const body = await answer.json<{ command_id: string }>()
    expect(body).toMatchObject({ id: body.command_id, output_files: { out_1: "out.mp4" } })
  })

  it("waits on after a reset of the dispatcher", async () => {
    const id = await makeCommand(caller)
    const waiting = read(id, "wait=30")
    await scheduler.wait(300)
    await abortAllDurableObjects()
    await scheduler.wait(300)
    await cancel(id)
    expect(await (await waiting).json()).toMatchObject({ error: { code: "canceled" } })
  })
})

describe("GET /jobs/{id}/events", () => {
  it("begins with the current state, and ends with the job", async () => {
    const id = await makeCommand(caller)
    const answer = await caller.call(`/jobs/${id}/events`)
    expect(answer.headers.get("content-type")).toContain("text/event-stream")
    const text = answer.text()
    await scheduler.wait(300)
    await cancel(id)
    const events = Array.from((await text).matchAll(/^event: (.*)$/gm), ([, event]) => event)
    expect(new Set(events)).toEqual(new Set(["state"]))
    expect(await text).toMatch(/"status":"(?:queued|processing)"[^]*"status":"failed"[^]*\n\n$/)
  })

  it("ends at once for a finished job, and sends the end unless the client has it", async () => {
    const id = await makeCommand(caller)
    await cancel(id)
    const first = await (await caller.call(`/jobs/${id}/events`)).text()
    const lastEventId = /^id: (.*)$/m.exec(first)?.[1] ?? ""
    const again = await caller.call(`/jobs/${id}/events`, {
      headers: { "last-event-id": lastEventId },
    })
    expect([again.status, await again.text()]).toEqual([204, ""])
    const stale = await caller.call(`/jobs/${id}/events`, { headers: { "last-event-id": "x" } })
    expect(await stale.text()).toBe(first)
  })
})
