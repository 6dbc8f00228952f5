import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import type { SignedInCaller } from "../support/accounts/signed-in.ts"
import { endOnlyTask } from "../support/tasks.ts"

const ORIGIN = "https://lathe.test"
const batchRecord = z.object({
  id: z.string(),
  jobs: z.record(z.string(), z.object({ id: z.string() })),
})

let user: SignedInCaller

beforeAll(async () => {
  user = await makeSignedInUser()
})

describe("the list of batches", () => {
  it("shows the request for a first batch", async () => {
    const html = await textOf("/batches")
    expect(html).toContain("No batches yet")
    expect(html).toContain("svc_id://level/file")
    expect(html).not.toContain("data-poll")
  })

  it("has the newest first in pages, and is polled while one is open", async () => {
    const many = await makeSignedInUser()
    const ids: string[] = []
    for (let number = 0; number < 21; number += 1) ids.push((await create(FILM, many)).id)
    const html = await textOf("/batches", many)
    expect(html).toContain('<a href="/batches" aria-current="page">')
    expect(html).toContain("data-poll")
    expect(listedIds(html)).toEqual(ids.toReversed().slice(0, 20))
    const next = /<a class="button" href="([^"]+)" rel="next">/.exec(html)?.[1] ?? ""
    expect(listedIds(await textOf(next.replaceAll("&amp;", "&"), many))).toEqual(ids.slice(0, 1))
  })
})

describe("the page of a batch", () => {
  it("draws the jobs behind those whose outputs they read, and follows the batch", async () => {
    const { id, jobs } = await create({ ...FILM, copy: copyOf("film") })
    const html = await textOf(`/batches/${id}`)
    expect(html).toContain(`data-follow-batch="${id}" data-state="2 0"`)
    expect(html).not.toContain("data-follow=")
    expect(html).toContain("0 of 2 jobs ended")
    expect(html).toContain(`action="/batches/${id}/cancel"`)
    expect(html).not.toContain(`action="/batches/${id}/retry"`)
    expect(html.match(/class="graph-layer"/g)).toHaveLength(2)
    expect(html).toContain('<path class="is-open" d="M15.5 50C')
    const copy = html.slice(html.indexOf(`id="job-${jobs["copy"]?.id}"`))
    expect(copy).toContain(`waits for <a href="#job-${jobs["film"]?.id}">film</a>`)
    expect(html).not.toContain("style=")
  })

  it("has the outputs of ended jobs, and the error of a failed one", async () => {
    const { id, jobs } = await create({ ...FILM, copy: copyOf("film") })
    await succeed(jobs["film"]?.id)
    const open = await textOf(`/batches/${id}`)
    expect(open).toContain("1 of 2 jobs ended")
    expect(open).toContain(`>reads <a href="#job-${jobs["film"]?.id}">film</a>`)
    expect(open).toMatch(/<a class="button" href="\/v1\/files\/[^"]+\/film.mp4" download/)
    expect(open).toContain('<path d="M15.5 50C')
    const failure = { code: "command_failed" as const, message: "It said <b>no</b>." }
    await endOnlyTask(user.accountId, jobs["copy"]?.id ?? "", { failure })
    const ended = await textOf(`/batches/${id}`)
    expect(ended).toContain("2 of 2 jobs ended, 1 failed or canceled")
    expect(ended).toContain("It said &lt;b&gt;no&lt;/b&gt;.")
    expect(ended).not.toContain("data-follow-batch")
    expect(ended).toContain(`action="/batches/${id}/retry"`)
  })

  it("cancels once, retries as a new batch, and deletes", async () => {
    const { id } = await create({ ...FILM, copy: copyOf("film") })
    const canceled = await user.submit(`/batches/${id}/cancel`)
    expect(canceled.headers.get("location")).toBe(`/batches/${id}`)
    expect(await textOf(`/batches/${id}`)).toContain("The open jobs of the batch were canceled.")
    await user.submit(`/batches/${id}/cancel`)
    expect(await textOf(`/batches/${id}`)).toContain("cannot be canceled")
    const path = (await user.submit(`/batches/${id}/retry`)).headers.get("location") ?? ""
    expect(path).toMatch(/^\/batches\/[\da-f-]{36}$/)
    expect(path).not.toContain(id)
    expect(await textOf(path)).toContain(`href="/batches/${id}"`)
    await user.submit(`${path}/retry`)
    expect(await textOf(path)).toContain("The batch is open")
    const deleted = await user.submit(`/batches/${id}/delete`)
    expect(deleted.headers.get("location")).toBe("/batches")
    expect((await user.visit(`/batches/${id}`)).status).toBe(404)
  })

  it("shows the deliveries of the batch, whose pages link back", async () => {
    const { id, jobs } = await create(FILM, user, { webhook: "https://example.com/hook" })
    await succeed(jobs["film"]?.id)
    expect(await textOf(`/batches/${id}`)).toContain("https://example.com/hook")
    const [, delivery = ""] =
      /href="(\/webhooks\/[\da-f-]{36})"/.exec(await textOf("/webhooks")) ?? []
    expect(await textOf(delivery)).toContain(`<a href="/batches/${id}">`)
  })

  it("hides other accounts' batches", async () => {
    const { id } = await create(FILM)
    const other = await makeSignedInUser()
    expect((await other.visit(`/batches/${id}`)).status).toBe(404)
    expect((await other.submit(`/batches/${id}/cancel`)).status).toBe(404)
    expect(await textOf("/batches", other)).not.toContain(id)
  })
})

describe("the page of a job", () => {
  it("links to its batch, to the jobs that it waits for, and to those that read its outputs", async () => {
    const { id, jobs } = await create({ ...FILM, copy: copyOf("film") })
    const [film, copy] = [jobs["film"]?.id ?? "", jobs["copy"]?.id ?? ""]
    const waiting = await textOf(`/jobs/${copy}`)
    expect(waiting).toContain(`href="/batches/${id}"`)
    expect(waiting).toContain(`data-follow="${copy}" data-state="queued 1"`)
    expect(rowOf(waiting, "Waits for")).toContain(`href="/jobs/${film}"`)
    expect(rowOf(await textOf(`/jobs/${film}`), "Read by")).toContain(`href="/jobs/${copy}"`)
    await succeed(film)
    const ready = await textOf(`/jobs/${copy}`)
    expect(rowOf(ready, "Waits for")).toBe("")
    expect(rowOf(ready, "Reads from")).toContain(`href="/jobs/${film}"`)
    const other = await makeSignedInUser()
    expect(await (await other.visit(`/jobs/${copy}`)).text()).not.toContain(film)
  })
})

const FILM = {
  film: {
    commands: {
      output_files: { out_1: "film.mp4" },
      ffmpeg_command: "ffmpeg -f lavfi -i testsrc2=duration=1 {{out_1}}",
    },
  },
}

function copyOf(name: string) {
  return {
    commands: {
      input_files: { in_1: `svc_id://${name}/out_1` },
      output_files: { out_1: "copy.mp4" },
      ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
    },
  }
}

async function create(jobs: object, caller = user, more: object = {}) {
  const answer = await caller.visit("/v1/batches", {
    method: "POST",
    headers: { origin: ORIGIN, "content-type": "application/json" },
    body: JSON.stringify({ jobs, ...more }),
  })
  return batchRecord.parse(await answer.json())
}

/** Ends a command with one film as its output. */
async function succeed(jobId = ""): Promise<void> {
  const sizes = { duration: 1, width: 64, height: 36 }
  const probe = { format_name: "mov", streams: [], format: {}, ...sizes }
  const output = { key: "out_1", size_bytes: 2048, content_type: "video/mp4", probe }
  await endOnlyTask(user.accountId, jobId, { result: { kind: "command", outputs: [output] } })
}

function listedIds(html: string): string[] {
  return [...html.matchAll(/href="\/batches\/([\da-f-]{36})"/g)].map(([, id = ""]) => id)
}

/** Returns the value of a row of the description list; an empty text without the row. */
function rowOf(html: string, term: string): string {
  return new RegExp(`<dt>${term}</dt><dd>(.*?)</dd>`).exec(html)?.[1] ?? ""
}

async function textOf(path: string, caller = user): Promise<string> {
  const answer = await caller.visit(path)
  expect(answer.status).toBe(200)
  return await answer.text()
}
