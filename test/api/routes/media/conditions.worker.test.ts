import { beforeAll, describe, expect, it } from "vitest"
import { fetchWorker, makeCaller, uploadTestFile } from "../../../support/caller.ts"
import { makeBundleReport, startCommandTask } from "../../../support/media/bundle.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeRandom } from "../../../support/random.ts"

const CONTENT = "0123456789"
const PAST = "Thu, 01 Jan 2015 00:00:00 GMT"
const FUTURE = "Thu, 01 Jan 2099 00:00:00 GMT"

let caller: TestCaller
/** URLs that serve stored bytes: a link, a published file, a playlist's member and a series. */
let places: Record<"link" | "published" | "member" | "archive", string>
let etag = ""

beforeAll(async () => {
  caller = await makeCaller("conditions")
  const file = await uploadTestFile(caller, "ten.txt", CONTENT)
  const published = await caller.post(`/files/${file.id}/publish`, {})
  const { public_url } = await published.json<{ public_url: string }>()
  const [playlist, archive] = await makeBundles()
  places = {
    link: await linkTo(file.download_url),
    published: public_url,
    member: (await linkTo(playlist)).replace(/[^/]*$/, "segment.ts"),
    archive: await linkTo(archive),
  }
  etag = (await fetchWorker(places.link, { method: "HEAD" })).headers.get("etag") ?? ""
  expect(etag).toMatch(/^"[0-9a-f]+"$/)
})

/** Returns the download URLs of a playlist and a series of one command. */
async function makeBundles(): Promise<[string, string]> {
  const task = await startCommandTask(caller, { out_1: "list.m3u8", out_2: "frame_%03d.png" })
  const list = [
    await task.store("out_1", "list.m3u8", "#EXTM3U\n", "application/vnd.apple.mpegurl"),
    await task.store("out_1", "segment.ts", CONTENT, "video/mp2t"),
  ]
  const series = [await task.store("out_2", "frame_001.png", "one", "image/png")]
  for (const key of ["out_1", "out_2"]) {
    const manifest = { method: "PUT", headers: { "content-length": "2" }, body: "{}" }
    await (await task.call(`/outputs/${key}`, manifest)).text()
  }
  const finished = await task.finish([
    makeBundleReport("out_1", list, "application/vnd.apple.mpegurl"),
    makeBundleReport("out_2", series, "application/zip"),
  ])
  expect(finished.status).toBe(200)
  const answer = await caller.call(`/commands/${task.jobId}`)
  const { output_files: made } = await answer.json<{
    output_files: Record<"out_1" | "out_2", { download_url: string }>
  }>()
  return [made.out_1.download_url, made.out_2.download_url]
}

async function linkTo(downloadUrl: string): Promise<string> {
  const redirect = await caller.call(new URL(downloadUrl).pathname.replace("/v1", ""))
  return redirect.headers.get("location") ?? ""
}

async function statusOf(headers: Record<string, string>): Promise<number> {
  const answer = await fetchWorker(places.link, { headers })
  await answer.body?.cancel()
  return answer.status
}

describe("a condition of a download", () => {
  it.each([
    ["if-match", "TAG", 200],
    ["if-match", '"another", TAG', 200],
    ["if-match", "*", 200],
    ["if-match", "W/TAG", 412],
    ["if-match", '"another"', 412],
    ["if-match", "BARE", 412],
    ["if-match", "x", 412],
    ["if-none-match", "TAG", 304],
    ["if-none-match", '"another",W/TAG', 304],
    ["if-none-match", "*", 304],
    ["if-none-match", '"another"', 200],
    ["if-none-match", "BARE", 200],
    ["if-none-match", "x", 200],
    ["if-modified-since", FUTURE, 304],
    ["if-modified-since", PAST, 200],
    ["if-modified-since", "x", 200],
    ["if-unmodified-since", FUTURE, 200],
    ["if-unmodified-since", PAST, 412],
    ["if-unmodified-since", "x", 200],
  ])("%s: %s is answered as RFC 9110 says", async (name, value, status) => {
    const bare = etag.replaceAll('"', "")
    const header = value.replace("TAG", etag).replace("BARE", bare)
    expect(await statusOf({ [name]: header })).toBe(status)
  })

  it("on the expected version has priority over others, and a tag over a date", async () => {
    expect(await statusOf({ "if-match": '"another"', "if-none-match": etag })).toBe(412)
    expect(await statusOf({ "if-match": etag, "if-unmodified-since": PAST })).toBe(200)
    expect(await statusOf({ "if-none-match": '"another"', "if-modified-since": FUTURE })).toBe(200)
    expect(await statusOf({ range: "bytes=0-1", "if-match": etag })).toBe(206)
    expect(await statusOf({ range: "bytes=0-1", "if-none-match": etag })).toBe(304)
  })

  it("with an unquoted tag gets the expected form", async () => {
    const answer = await fetchWorker(places.link, { headers: { "if-match": "x" } })
    expect((await answer.json<{ message: string }>()).message).toContain(
      "If-Match: expected * or entity tags in double quotes",
    )
  })
})

const HEADERS = [
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "if-range",
  "range",
]
const PIECES = [
  ['"', "x", "W/", "w/", '"x"', "*", ",", " ", "\t", "\\", "é", "\u0080", "{}", "%00", ";", "="],
  ["bytes", "bytes=", "-", "0", "1", "9", "10", "-1", "1e9", "9".repeat(20), "0-1", "seconds="],
  [PAST, FUTURE, "1", "Invalid Date", "Sat, 31 Dec 275760 00:00:00 GMT", "2015-02-30T99:99:99Z"],
].flat()
const STATUSES = [200, 206, 304, 412, 416]
const DRAWS = 400

describe("a download route", () => {
  it.each(["link", "published", "member", "archive"] as const)(
    "fails for no conditional or range header (%s)",
    async (place) => {
      const { draw, pick, whole } = makeRandom(26)
      const failed: unknown[] = []
      for (let at = 0; at < DRAWS; at += 1) {
        const names = HEADERS.filter(() => draw() < 0.3)
        const headers = Object.fromEntries(
          names.map((name) => [
            name,
            Array.from({ length: whole(5) }, () => pick([...PIECES, etag])).join(""),
          ]),
        )
        const method = draw() < 0.3 ? "HEAD" : "GET"
        const answer = await fetchWorker(places[place], { method, headers })
        await answer.body?.cancel()
        if (!STATUSES.includes(answer.status)) failed.push([method, headers, answer.status])
      }
      expect(failed).toEqual([])
    },
  )
})
