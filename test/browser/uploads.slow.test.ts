import { createHash, randomBytes } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { z } from "zod"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { expectAccessible, LACK, takePicture } from "./browser.ts"
import { useStage } from "./stage.ts"

const CHUNK_BYTES = 6_000_000
const FILE_BYTES = 20_000_000
/** Chunks that reach the service before a test interrupts the upload. */
const CHUNKS_BEFORE = 2
const INTERRUPTED = "11 MB of 19 MB; select the file again to continue."

const files = z.array(z.looseObject({ name: z.string(), download_url: z.url() }))

const stage = useStage({ UPLOAD_BODY_BYTES_MAX: String(CHUNK_BYTES) })
let folder: string

describe.skipIf(LACK !== null)(`resumable uploads in a browser${makeSkipSuffix(LACK)}`, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "lathe-uploads-"))
  })

  afterAll(async () => await rm(folder, { recursive: true, force: true }))

  it("continue after a reload of the page, as soon as the file is selected again", async () => {
    const page = await stage.openPage()
    const film = await makeFile("reloaded.bin")
    await page.goto("/files")
    await uploadUntilHeld(page, film.path)
    const offsets = watchOffsets(page)
    await page.reload()
    const uploads = page.getByRole("list", { name: "Uploads" })
    await uploads.getByText(INTERRUPTED).waitFor()
    await expectAccessible(page)
    await takePicture(page, "uploads-unfinished")
    await select(page, film.path)
    await uploads.getByText(", uploaded").waitFor()
    expect(await uploads.getByRole("listitem").count()).toBe(1)
    expect(offsets).toEqual([12_000_000, 18_000_000])
    expect(await readHashes(page, "reloaded.bin")).toEqual([film.sha256])
    await page.reload()
    await page.getByRole("table").getByRole("link", { name: "reloaded.bin" }).waitFor()
    expect(await uploads.getByRole("listitem").count()).toBe(0)
  })

  it("are discarded on demand", async () => {
    const page = await stage.openPage()
    const film = await makeFile("discarded.bin")
    await page.goto("/files")
    await uploadUntilHeld(page, film.path)
    await page.reload()
    await page.getByRole("button", { name: "Discard: discarded.bin" }).click()
    await page.getByRole("list", { name: "Uploads" }).waitFor({ state: "hidden" })
    await expect.poll(async () => await readJson(page, "/v1/uploads")).toEqual([])
    expect(await readHashes(page, "discarded.bin")).toEqual([])
  })

  it("continue by themselves after the connection was lost", async () => {
    const page = await stage.openPage({ expected: [/request: .*ERR_INTERNET_DISCONNECTED/] })
    const film = await makeFile("offline.bin")
    await page.goto("/files")
    const release = await uploadUntilHeld(page, film.path)
    await page.context().setOffline(true)
    await release()
    const uploads = page.getByRole("list", { name: "Uploads" })
    await uploads.getByText("The upload was interrupted; it continues soon.").waitFor()
    await page.context().setOffline(false)
    await uploads.getByText(", uploaded").waitFor()
    expect(await readHashes(page, "offline.bin")).toEqual([film.sha256])
  })

  it("become one File if two tabs send the same file", async () => {
    const first = await stage.openPage({ expected: [/answer: (?:409|423) PATCH/] })
    const film = await makeFile("twice.bin")
    await first.goto("/files")
    const release = await uploadUntilHeld(first, film.path)
    const second = await first.context().newPage()
    await second.goto("/files")
    await second.getByText(INTERRUPTED).waitFor()
    await select(second, film.path)
    await release()
    for (const page of [first, second]) {
      const uploads = page.getByRole("list", { name: "Uploads" })
      await uploads.getByText(", uploaded").waitFor()
    }
    expect(await readHashes(first, "twice.bin")).toEqual([film.sha256])
  })
})

async function makeFile(name: string): Promise<{ path: string; sha256: string }> {
  const bytes = randomBytes(FILE_BYTES)
  const path = join(folder, name)
  await writeFile(path, bytes)
  return { path, sha256: hash(bytes) }
}

async function select(page: Page, path: string): Promise<void> {
  await page.getByLabel("Files to upload").setInputFiles(path)
}

/** Begins an upload and holds its third chunk back. Returns a function that lets the chunk go. */
async function uploadUntilHeld(page: Page, path: string): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<() => Promise<void>>()
  let chunks = 0
  await page.route("**/v1/uploads/*", async (route) => {
    if (route.request().method() !== "PATCH") return await route.continue()
    chunks += 1
    if (chunks !== CHUNKS_BEFORE + 1) return await route.continue()
    return held.resolve(async () => await route.continue())
  })
  await select(page, path)
  return await held.promise
}

/** Returns the offsets of the chunks that a page sends from now on. */
function watchOffsets(page: Page): number[] {
  const offsets: number[] = []
  page.on("request", (request) => {
    if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]))
  })
  return offsets
}

async function readJson(page: Page, path: string): Promise<unknown> {
  return await (await page.request.get(path)).json()
}

/** Downloads the account's Files that have a name. Returns the SHA-256 of each. */
async function readHashes(page: Page, name: string): Promise<string[]> {
  const found = files.parse(await readJson(page, "/v1/files?limit=100"))
  const urls = found.filter((file) => file.name === name).map(({ download_url: url }) => url)
  return await Promise.all(
    urls.map(async (url) => hash(await (await page.request.get(url)).body())),
  )
}

function hash(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex")
}
