import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { deleteJob } from "../../../src/jobs/remove.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { removeExpiredJobs } from "../../../src/db/jobs/job-removal.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { readProblem } from "../../support/problem.ts"

type Row = { id: string; metadata?: Record<string, string> }

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("list filters")
})

async function list(path: string, by: TestCaller = caller): Promise<Row[]> {
  const answer = await by.call(path)
  if (answer.status !== 200) throw new Error(await answer.text())
  return await answer.json<Row[]>()
}

async function idsOf(path: string): Promise<string[]> {
  return (await list(path)).map(({ id }) => id)
}

async function command(metadata: Record<string, string>, more: object = {}): Promise<string> {
  const answer = await caller.post("/commands", {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc2 -t 1 {{out_1}}",
    output_files: { out_1: "a.mp4" },
    metadata,
    ...more,
  })
  if (answer.status !== 202) throw new Error(await answer.text())
  return (await answer.json<{ command_id: string }>()).command_id
}

async function uploadWith(name: string, metadata: Record<string, string>): Promise<string> {
  const body = new FormData()
  body.append("metadata", JSON.stringify(metadata))
  body.append("file", new File(["media"], name))
  const answer = await caller.call("/files", { method: "POST", body })
  if (answer.status !== 201) throw new Error(await answer.text())
  return (await answer.json<Row>()).id
}

async function countPairs(): Promise<number> {
  const counted = env.DB.prepare("select count(*) as n from job_metadata where account_id = ?")
  return Number(await counted.bind(await findCallerAccountId(caller)).first("n"))
}

describe("the filter of a list by metadata", () => {
  it("finds the jobs of a pair, newest first, by name and value", async () => {
    const [first, second] = [await command({ user: "7", order: "1" }), await command({ user: "7" })]
    await command({ user: "70" })
    await command({ other: "7" })
    expect(await idsOf("/commands?metadata.user=7")).toEqual([second, first])
    expect(await idsOf("/jobs?metadata.user=7")).toEqual([second, first])
    expect(await idsOf("/commands?metadata.order=1")).toEqual([first])
    expect(await idsOf("/commands?metadata.order=2")).toEqual([])
    const other = await makeCaller("another of list filters")
    expect(await list("/jobs?metadata.user=7", other)).toEqual([])
  })

  it("takes any name and value that a create takes", async () => {
    for (const [name, value] of [
      ["a.b", "x"],
      ["a b&c=d", "ü/?#%"],
      ["", "of no name"],
      ["x".repeat(64), "y".repeat(500)],
      ["empty", ""],
      ['quo"te', "line\nbreak"],
    ] as const) {
      const id = await command({ [name]: value })
      const query = new URLSearchParams({ [`metadata.${name}`]: value })
      expect([name, await idsOf(`/commands?${query.toString()}`)]).toEqual([name, [id]])
    }
  })

  it("applies beside the other filters, and the cursor keeps it", async () => {
    const ids = []
    for (let made = 0; made < 5; made += 1) ids.unshift(await command({ batch: "b" }))
    const canceled = ids[1] ?? ""
    await caller.call(`/jobs/${canceled}/cancel`, { method: "POST" })
    const [status, waiting] = ["&status=failed", "&status=pending"]
    expect(await idsOf(`/commands?metadata.batch=b${status}`)).toEqual([canceled])
    const open = ids.filter((id) => id !== canceled)
    expect(await idsOf(`/commands?metadata.batch=b${waiting}`)).toEqual(open)
    expect(await idsOf("/jobs?metadata.batch=b&kind=command&status=failed")).toEqual([canceled])
    expect(await idsOf("/jobs?metadata.batch=b&kind=fetch")).toEqual([])
    expect(await idsOf("/jobs?metadata.batch=b&created_before=2020-01-01T00:00:00Z")).toEqual([])
    expect(await idsOf("/commands?metadata.batch=b&limit=2&offset=1")).toEqual(ids.slice(1, 3))

    const read: string[] = []
    let path: string | undefined = "/commands?metadata.batch=b&limit=2"
    while (path !== undefined) {
      const answer: Response = await caller.call(path)
      read.push(...(await answer.json<Row[]>()).map(({ id }) => id))
      path = /<https:\/\/lathe\.test\/v1([^>]+)>/.exec(answer.headers.get("link") ?? "")?.[1]
      expect(path ?? "metadata.batch=b").toContain("metadata.batch=b")
    }
    expect(read).toEqual(ids)
  })

  it("finds Files by the metadata that their records show", async () => {
    const id = await uploadWith("clip.mp4", { album: "spring" })
    await uploadWith("clip.mp4", { album: "autumn" })
    const [found, ...others] = await list("/files?metadata.album=spring")
    expect(found).toMatchObject({ id, metadata: { album: "spring" } })
    expect(others).toEqual([])
    expect(await idsOf("/files?metadata.album=spring&source=import")).toEqual([])
    expect(await idsOf("/files?metadata.album=spring&name=clip.mp4&source=upload")).toEqual([id])
    expect(await idsOf("/jobs?metadata.album=spring&kind=file")).toEqual([id])
  })

  it("is taken by each list of jobs, and by no other list", async () => {
    for (const path of ["/commands", "/files", "/fetch", "/normalize", "/transcribe", "/jobs"]) {
      expect([path, await list(`${path}?metadata.nothing=1`)]).toEqual([path, []])
    }
    for (const path of ["/keys", "/webhooks/deliveries"]) {
      const answer = await caller.call(`${path}?metadata.nothing=1`)
      expect([path, answer.status]).toEqual([path, 422])
    }
  })

  it.each([
    ["metadata.a=1&metadata.b=2", "metadata", "expected one parameter `metadata.<name>=<value>`"],
    ["metadata.a=1&metadata.a=2", "metadata.a", "the parameter occurs 2 times; send it once"],
    ["metadata=1", "metadata", "expected `metadata.<name>=<value>`"],
    [`metadata.a=${"x".repeat(501)}`, "metadata.a", "expected at most 500 characters"],
    [`metadata.${"x".repeat(65)}=1`, `metadata.${"x".repeat(65)}`, "at most 64 characters"],
    ["metadata.__proto__=1", "metadata", "expected one parameter"],
    ["metadta.a=1", "metadta.a", "unknown query parameter"],
  ])("refuses %s", async (query, field, message) => {
    const { details, status } = await readProblem(await caller.call(`/commands?${query}`))
    expect(status).toBe(422)
    expect(details).toEqual([
      expect.objectContaining({ field, message: expect.stringContaining(message) }),
    ])
  })
})

describe("pairs of metadata", () => {
  it("go with their job, by a deletion or at its expiry", async () => {
    const [accountId, before] = [await findCallerAccountId(caller), await countPairs()]
    const deleted = await command({ a: "1", b: "2" })
    const expired = await command({ a: "1" }, { expires_in: 60 })
    const kept = await command({ a: "1" })
    expect(await countPairs()).toBe(before + 4)
    await deleteJob(env, createExecutionContext(), accountId, deleted)
    expect(await countPairs()).toBe(before + 2)
    await caller.call(`/jobs/${expired}/cancel`, { method: "POST" })
    const later = Date.now() + 61_000
    await removeExpiredJobs(openAccountDatabases(env, accountId).sql, {
      now: later,
      endedBefore: null,
    })
    expect(await countPairs()).toBe(before + 1)
    expect(await idsOf("/jobs?metadata.a=1")).toEqual([kept])
  })

  it("of a retried job are those of the first", async () => {
    const id = await command({ again: "1" })
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    const answer = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    expect(answer.status).toBe(202)
    expect(await idsOf("/jobs?metadata.again=1")).toHaveLength(2)
  })
})

describe("the filter of Files by name", () => {
  it("finds files of exactly that name, newest first", async () => {
    const [first, second] = [
      (await uploadTestFile(caller, "Übung 1.mp4", "media")).id,
      (await uploadTestFile(caller, "Übung 1.mp4", "more media")).id,
    ]
    await uploadTestFile(caller, "Übung 10.mp4", "media")
    const name = encodeURIComponent("Übung 1.mp4")
    expect(await idsOf(`/files?name=${name}`)).toEqual([second, first])
    expect(await idsOf(`/files?name=${name}&source=upload&limit=1&offset=1`)).toEqual([first])
    expect(await idsOf(`/files?name=${name}&source=output`)).toEqual([])
    expect(await idsOf("/files?name=bung")).toEqual([])
    const { details } = await readProblem(await caller.call(`/files?name=a&name=b`))
    expect(details).toEqual([
      expect.objectContaining({
        field: "name",
        message: "the parameter occurs 2 times; send it once",
      }),
    ])
    expect((await caller.call("/commands?name=a")).status).toBe(422)
  })
})
