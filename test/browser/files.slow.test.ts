import { beforeAll, describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { expectAccessible, expectNoOverflow, LACK, PHONE, takePicture } from "./browser.ts"
import { useStage } from "./stage.ts"
import { makeFilm } from "./film.ts"

let film: { path: string }

const stage = useStage({ PAID_FILE_BYTES_MAX: "3000000", LINK_SECONDS: "2" })

describe.skipIf(LACK !== null)(`files in a browser${makeSkipSuffix(LACK)}`, () => {
  beforeAll(async () => {
    film = stage.use(await makeFilm())
  })

  it("uploads several files at a time, and shows them in the list", async () => {
    const page = await stage.openPage()
    await page.goto("/files")
    const chooser = page.getByLabel("Files to upload")
    await chooser.setInputFiles([text("1.txt"), text("2.txt")])
    await chooser.setInputFiles(film.path)
    const uploads = page.getByRole("list", { name: "Uploads" })
    await uploads.getByText(", uploaded").nth(2).waitFor()
    const listed = page.getByRole("table").getByRole("link")
    await listed.nth(2).waitFor()
    expect(new Set(await listed.allTextContents())).toEqual(new Set(["film.mp4", "1.txt", "2.txt"]))
    await expectAccessible(page)
    await takePicture(page, "files")
  })

  it("shows a hostile name as plain text", async () => {
    const page = await stage.openPage()
    await page.goto("/files")
    const name = `<script>alert(1)<b> "'&amp; ${"x".repeat(200)}.txt`
    await page.getByLabel("Files to upload").setInputFiles(text(name))
    const link = page.getByRole("table").getByRole("link", { name: "<script>" })
    expect(await link.textContent()).toMatch(/^<b> "'&amp; x+\.txt$|^<script>alert\(1\)<b>/)
    await link.click()
    await page.getByRole("heading", { level: 1, name: "<script>" }).waitFor()
    await page.setViewportSize(PHONE)
    await expectNoOverflow(page)
  })

  it("shows beside a file why its upload failed, and retries it", async () => {
    const page = await stage.openPage({ expected: [/answer: 429/] })
    await page.goto("/files")
    const message = "The key has too many open uploads."
    const refusal = { status: 429, json: { message } }
    await page.route("**/v1/uploads", async (route) => await route.fulfill(refusal), { times: 1 })
    const large = { name: "large.mp4", mimeType: "video/mp4", buffer: Buffer.alloc(3_100_000) }
    await page.getByLabel("Files to upload").setInputFiles([large, text("again.txt")])
    const uploads = page.getByRole("list", { name: "Uploads" })
    await uploads.getByText("The plan limits a file to 2.9 MB.").waitFor()
    await uploads.getByText(message).waitFor()
    await expectAccessible(page)
    await takePicture(page, "files-refused")
    await page.getByRole("button", { name: "Try again: again.txt" }).click()
    await uploads.getByText("1 B, uploaded").waitFor()
    expect(await page.getByRole("table").getByRole("link", { name: "large.mp4" }).count()).toBe(0)
  })

  it("accepts files dropped anywhere on the page", async () => {
    const page = await stage.openPage()
    await page.goto("/files")
    const data = await page.evaluateHandle(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(["dropped"], "dropped.txt"))
      return data
    })()`)
    await page.dispatchEvent("h1", "drop", { dataTransfer: data })
    const link = page.getByRole("table").getByRole("link", { name: "dropped.txt" })
    expect(await link.getAttribute("href")).toMatch(/^\/files\/[0-9a-f-]+$/)
  })

  it("aborts a canceled upload", async () => {
    const page = await stage.openPage()
    await page.route("**/v1/uploads", async () => undefined)
    await page.goto("/files")
    await page.getByLabel("Files to upload").setInputFiles(text("held.txt"))
    await page.getByRole("button", { name: "Cancel: held.txt" }).click()
    await page.getByRole("list", { name: "Uploads" }).waitFor({ state: "hidden" })
    expect(await page.getByText("held.txt").count()).toBe(0)
  })

  it("plays a video, and shows its streams", async () => {
    const page = await stage.openPage()
    await openFile(page, "film.mp4")
    await page.getByText("H.264", { exact: false }).first().waitFor()
    await page.getByText("fra", { exact: true }).waitFor()
    await page.getByText("25 fps").waitFor()
    expect(await playedSeconds(page)).toBeGreaterThan(0)
    await expectAccessible(page)
    await takePicture(page, "file")
    await page.setViewportSize(PHONE)
    await expectNoOverflow(page)
    await takePicture(page, "file-phone")
  })
})

function text(name: string) {
  return { name, mimeType: "text/plain", buffer: Buffer.from("x") }
}

async function openFile(page: Page, name: string): Promise<void> {
  await page.goto("/files")
  await page.getByRole("table").getByRole("link", { name }).click()
  await page.getByRole("heading", { level: 1, name }).waitFor()
}

/** How far a video has come once it moves. */
async function playedSeconds(page: Page): Promise<unknown> {
  return await page.evaluate(`new Promise((resolve) => {
    const video = document.querySelector("video")
    video.muted = true
    video.addEventListener("timeupdate", () => {
      if (video.currentTime > 0.2) resolve(video.currentTime)
    })
    void video.play()
  })`)
}
