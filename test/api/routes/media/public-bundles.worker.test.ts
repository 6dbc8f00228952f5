import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeBundleReport, startCommandTask } from "../../../support/media/bundle.ts"
import { fetchWorker, makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"

const HLS = "application/vnd.apple.mpegurl"
const PLAYLIST = "#EXTM3U\n#EXTINF:7,\nseg 1.ts\n"

const member = z.object({
  name: z.string(),
  download_url: z.url(),
  public_url: z.url().optional(),
})
const bundle = z.looseObject({
  id: z.uuid(),
  name: z.string(),
  download_url: z.url(),
  public_url: z.url().optional(),
  archive_url: z.url(),
  playlist: z.string().optional(),
  files: z.array(z.looseObject(member.shape)),
})

type Bundle = z.infer<typeof bundle>

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("public bundles")
})

/** Makes a bundle of this name by a command; the first member is its playlist if it has one. */
async function makeBundle(name: string, members: Record<string, string>, playlist?: string) {
  const task = await startCommandTask(caller, { out_1: name })
  const stored = []
  for (const [each, content] of Object.entries(members)) {
    stored.push(await task.store("out_1", each, content, each.endsWith("u8") ? HLS : "video/mp2t"))
  }
  const manifest = { method: "PUT", headers: { "content-length": "2" }, body: "{}" }
  expect((await task.call("/outputs/out_1", manifest)).status).toBe(200)
  const type = playlist === undefined ? "application/zip" : HLS
  const report = { ...makeBundleReport("out_1", stored, type), ...(playlist && { playlist }) }
  expect((await task.finish([report])).status).toBe(200)
  return { commandId: task.jobId, id: task.fileIds["out_1"] ?? "" }
}

async function fileOf(id: string): Promise<Bundle> {
  return bundle.parse(await (await caller.call(`/files/${id}`)).json())
}

async function publish(id: string): Promise<Bundle> {
  const answer = await caller.call(`/files/${id}/publish`, { method: "POST" })
  const { public_url } = await answer.json<{ public_url: string }>()
  const file = await fileOf(id)
  expect(file.public_url).toBe(public_url)
  return file
}

async function textOf(url: string): Promise<[number, string]> {
  const answer = await fetchWorker(url)
  return [answer.status, await answer.text()]
}

/** Returns the names in the directory of a ZIP. */
async function namesInZip(url: string): Promise<string[]> {
  const answer = await fetchWorker(url)
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/zip"])
  const text = new TextDecoder("latin1").decode(await answer.arrayBuffer())
  const headers = text.split("PK\u0001\u0002").slice(1)
  return headers.map((header) => header.slice(42, 42 + header.charCodeAt(24)))
}

describe("a published bundle with a playlist", () => {
  it.each([
    ["film.m3u8", "film.m3u8", "film.zip"],
    ["film_%v.m3u8", "all.m3u8", "film.zip"],
  ])("has the URL of its playlist, its files beside it and a ZIP: %s", async (name, list, zip) => {
    const members = { [list]: PLAYLIST, "seg 1.ts": "0123" }
    const { id } = await makeBundle(name, members, list)
    const before = await fileOf(id)
    expect(before.archive_url).toBe(`https://lathe.test/v1/files/${id}/${zip}`)
    expect(before).not.toHaveProperty("public_url")
    for (const each of before.files) expect(each).not.toHaveProperty("public_url")
    const place = `https://lathe.test/public/1/${id}`
    expect((await fetchWorker(`${place}/${zip}`)).status).toBe(404)

    const { public_url = "", archive_url, files, download_url } = await publish(id)
    expect(public_url).toBe(`${place}/${list}`)
    expect(archive_url).toBe(`${place}/${zip}`)
    expect(download_url).toBe(before.download_url)
    expect(await textOf(public_url)).toEqual([200, PLAYLIST])
    expect(await textOf(new URL("seg%201.ts", public_url).href)).toEqual([200, "0123"])
    expect(files.map((each) => each.public_url)).toEqual([public_url, `${place}/seg%201.ts`])
    expect(await namesInZip(archive_url)).toEqual([list, "seg 1.ts"])

    await caller.call(`/files/${id}/publish`, { method: "DELETE" })
    for (const url of [public_url, archive_url, `${place}/seg%201.ts`]) {
      expect([url, (await fetchWorker(url)).status]).toEqual([url, 404])
    }
    expect(await fileOf(id)).toEqual(before)
  })
})

describe("a published bundle without a playlist", () => {
  it("has the URL of its ZIP, and URLs of its files", async () => {
    const { id } = await makeBundle("frame_%d.png", { "frame_1.png": "one", "frame_2.png": "two" })
    const { public_url = "", archive_url, files } = await publish(id)
    const place = `https://lathe.test/public/1/${id}`
    expect([public_url, archive_url]).toEqual([`${place}/frame.zip`, `${place}/frame.zip`])
    expect(await namesInZip(public_url)).toEqual(["frame_1.png", "frame_2.png"])
    expect(files.map((each) => each.public_url)).toEqual(
      ["frame_1.png", "frame_2.png"].map((name) => `${place}/${name}`),
    )
    expect(await textOf(files[1]?.public_url ?? "")).toEqual([200, "two"])
  })
})

describe("the archive_url of a private bundle", () => {
  it("leads to a ZIP of a playlist's files by the key alone", async () => {
    const members = { "film.m3u8": PLAYLIST, "seg 1.ts": "0123" }
    const { id, commandId } = await makeBundle("film.m3u8", members, "film.m3u8")
    const { archive_url, files } = await fileOf(id)
    expect((await fetchWorker(archive_url)).status).toBe(401)
    const redirect = await caller.call(archive_url.replace("https://lathe.test/v1", ""))
    const link = redirect.headers.get("location") ?? ""
    expect(await namesInZip(link)).toEqual(["film.m3u8", "seg 1.ts"])
    const disposition = (await fetchWorker(link, { method: "HEAD" })).headers.get(
      "content-disposition",
    )
    expect(disposition).toBe("attachment; filename=film.zip")
    const command = await (await caller.call(`/commands/${commandId}`)).json()
    expect(command).toMatchObject({ output_files: { out_1: { id, archive_url, files } } })
    const listed = await (await caller.call("/commands?limit=1")).json()
    expect(listed).toMatchObject([{ output_files: { out_1: { archive_url } } }])
    const job = await (await caller.call(`/jobs/${commandId}`)).json()
    expect(job).toMatchObject({ outputs: [{ id, archive_url }] })
  })
})
