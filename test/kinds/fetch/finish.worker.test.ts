import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { sweepDirectly } from "../../support/sweep.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeFetchResult, finishFetch } from "../../support/media/fetched.ts"
import { endOnlyTask } from "../../support/tasks.ts"
import { readStoredWebhook } from "../../support/stored-webhook.ts"

const URL = "https://video.example.com/watch?v=1"
const DAY_MS = 24 * 3_600_000

const record = z.looseObject({ id: z.uuid(), download_url: z.string().optional() })

async function create(caller: TestCaller, changes: Record<string, unknown> = {}): Promise<string> {
  const answer = await caller.post("/fetch", { url: URL, ...changes })
  return z.object({ fetch_id: z.uuid() }).parse(await answer.json()).fetch_id
}

async function get(caller: TestCaller, path: string) {
  return record.parse(await (await caller.call(path)).json())
}

/** Runs a fetch to its end, with subtitles in the first of two languages. */
async function fetched() {
  const caller = await makeCaller(crypto.randomUUID())
  const webhook = "https://receiver.example/"
  const id = await create(caller, { subtitles: ["en", "de"], quality: "360p", webhook })
  const objectKey = await finishFetch(caller, id, makeFetchResult(["en"]))
  return { caller, id, objectKey, base: `https://lathe.test/v1/fetch/${id}` }
}

describe("a fetch that succeeded", () => {
  it("has the fetched media in its record", async () => {
    const { caller, id, base } = await fetched()
    const shown = await get(caller, `/fetch/${id}`)
    expect(shown).toMatchObject({
      id,
      url: URL,
      status: "success",
      quality: "360p",
      title: "A clip",
      duration_seconds: 1.5,
      content_type: "video/mp4",
      width: 640,
      height: 360,
      progress: 100,
      download_url: `${base}/A%20clip.mp4`,
      subtitles: [{ language: "en", url: `${base}/A%20clip.en.vtt` }],
    })
    const { completed_at, expires_at } = z
      .object({ completed_at: z.string(), expires_at: z.string() })
      .parse(shown)
    expect(Date.parse(expires_at) - Date.parse(completed_at)).toBe(7 * DAY_MS)
  })

  it("is a Job whose outputs have download URLs, and its webhook carries the response of GET", async () => {
    const { caller, id, base } = await fetched()
    expect(await get(caller, `/jobs/${id}`)).toMatchObject({
      kind: "fetch",
      status: "completed",
      outputs: [{ url: `${base}/A%20clip.mp4`, codec: "h264" }, { url: `${base}/A%20clip.en.vtt` }],
    })
    const { type, body } = await readStoredWebhook(id)
    expect(type).toBe("fetch.succeeded")
    expect(body).toContain(`"data":${await (await caller.call(`/fetch/${id}`)).text()}}`)
  })

  it("ends all its files, none of which is listed or usable as an input", async () => {
    const { caller, id } = await fetched()
    const rows = env.DB.prepare("select * from files where job_id = ? order by output_key").bind(id)
    const { results } = await rows.all<{ id: string; state: string; error_code: string | null }>()
    expect(results.map(({ state, error_code }) => [state, error_code])).toEqual([
      ["succeeded", null],
      ["succeeded", null],
      ["failed", "not_found"],
    ])
    expect(await (await caller.call("/files")).json()).toEqual([])
    expect((await caller.call("/files?source=fetch")).status).toBe(422)
    for (const file of results) {
      for (const path of [`/files/${file.id}`, `/files/${file.id}/A%20clip.mp4`]) {
        expect((await caller.call(path)).status).toBe(404)
      }
      expect((await caller.call(`/files/${file.id}`, { method: "DELETE" })).status).toBe(404)
      const answer = await caller.post("/commands", {
        ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}",
        input_files: { in_1: `svc_id://${file.id}` },
        output_files: { out_1: "a.mp4" },
      })
      expect(await answer.json()).toMatchObject({ details: [{ code: "no_such_file" }] })
    }
  })

  it("is refused as an input by its download_url", async () => {
    const { caller, base } = await fetched()
    const answer = await caller.post("/commands", {
      ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}",
      input_files: { in_1: `${base}/A%20clip.mp4` },
      output_files: { out_1: "a.mp4" },
    })
    expect(await answer.json()).toMatchObject({ details: [{ code: "fetch_not_an_input" }] })
  })

  it("is repeated as a fetch by a retry", async () => {
    const { caller, id } = await fetched()
    const again = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    expect(again.status).toBe(202)
    const { id: second } = record.parse(await again.json())
    await finishFetch(caller, second, makeFetchResult(["en", "de"]))
    expect(await get(caller, `/fetch/${second}`)).toMatchObject({
      status: "success",
      quality: "360p",
      subtitles: [{ language: "en" }, { language: "de" }],
    })
    expect(await (await caller.call("/files")).json()).toEqual([])
  })

  it("renames outputs to which its runner gave the same name", async () => {
    const caller = await makeCaller(crypto.randomUUID())
    const id = await create(caller, { subtitles: "en" })
    const result = makeFetchResult(["en"])
    const subtitles = result.subtitles.map((each) => ({ ...each, name: result.media.name }))
    await finishFetch(caller, id, { ...result, subtitles })
    expect(await get(caller, `/fetch/${id}`)).toMatchObject({
      download_url: `https://lathe.test/v1/fetch/${id}/A%20clip.mp4`,
      subtitles: [{ url: `https://lathe.test/v1/fetch/${id}/subtitles_1.A%20clip.mp4` }],
    })
  })
})

describe("a fetch that failed", () => {
  it("has its error, nothing to download, and a webhook", async () => {
    const caller = await makeCaller(crypto.randomUUID())
    const id = await create(caller, { webhook: "https://receiver.example/" })
    const failure = { code: "login_required" as const, message: "The site wants a login." }
    await endOnlyTask(await findCallerAccountId(caller), id, { failure })
    const shown = await get(caller, `/fetch/${id}`)
    expect(shown).toMatchObject({
      status: "failed",
      error: "The site wants a login.",
      error_code: "login_required",
    })
    for (const field of ["download_url", "expires_at", "title"]) {
      expect(shown).not.toHaveProperty(field)
    }
    expect((await caller.call(`/fetch/${id}/media`)).status).toBe(404)
    const row = env.DB.prepare("select type from deliveries where job_id = ?").bind(id)
    expect(await row.first("type")).toBe("fetch.failed")
  })
})

describe("fetched media", () => {
  it("are removed after some days; the record stays, and the download returns 410", async () => {
    const { caller, id, objectKey } = await fetched()
    await env.DB.batch([
      env.DB.prepare("update jobs set completed_at = completed_at - ? where id = ?").bind(
        7 * DAY_MS,
        id,
      ),
      env.DB.prepare("update files set completed_at = completed_at - ? where job_id = ?").bind(
        7 * DAY_MS,
        id,
      ),
    ])
    // The media has expired, even before the sweep removes it.
    expect((await caller.call(`/fetch/${id}/A%20clip.mp4`)).status).toBe(410)
    for (let swept = 0; swept < 2; swept += 1) await sweepDirectly(env, Date.now())
    await expect.poll(() => env.MEDIA.head(objectKey)).toBeNull()
    const shown = await get(caller, `/fetch/${id}`)
    expect(shown).toMatchObject({ status: "success", title: "A clip", subtitles: [] })
    expect(shown).toHaveProperty("expires_at")
    expect(shown).not.toHaveProperty("download_url")
    const gone = await caller.call(`/fetch/${id}/A%20clip.mp4`)
    expect(gone.status).toBe(410)
    expect(await gone.json()).toMatchObject({ code: "link_expired" })
    expect((await caller.call(`/fetch/${id}/another.mp4`)).status).toBe(404)
  })

  it("stay removed after a later setting extends the retention", async () => {
    const { caller, id } = await fetched()
    await sweepDirectly({ ...env, FETCH_DAYS_MAX: "1" }, Date.now() + 2 * DAY_MS)
    expect(await get(caller, `/fetch/${id}`)).not.toHaveProperty("download_url")
  })

  it("are removed with a deleted or expired record, and Files stay", async () => {
    const { caller, id, objectKey } = await fetched()
    const file = await uploadTestFile(caller, "mine.txt", "x")
    expect((await caller.call(`/fetch/${id}`, { method: "DELETE" })).status).toBe(200)
    expect((await caller.call(`/fetch/${id}`)).status).toBe(404)
    await expect.poll(() => env.MEDIA.head(objectKey)).toBeNull()

    const old = await fetched()
    const long = { ...env, JOB_DAYS_MAX: "1", FETCH_DAYS_MAX: "9" }
    await sweepDirectly(long, Date.now() + 2 * DAY_MS)
    await sweepDirectly(long, Date.now() + 2 * DAY_MS)
    expect((await old.caller.call(`/fetch/${old.id}`)).status).toBe(404)
    expect(await env.MEDIA.head(old.objectKey)).toBeNull()
    const rows = env.DB.prepare("select count(*) as n from files where job_id = ?").bind(old.id)
    expect(await rows.first("n")).toBe(0)
    expect((await caller.call(`/files/${file.id}`)).status).toBe(200)
  })
})
