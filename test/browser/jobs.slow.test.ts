import { describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { skipNote } from "../support/speech.ts"
import { expectAccessible, expectNoOverflow, LACK, PHONE, takePicture } from "./browser.ts"
import { useStage } from "./stage.ts"

const SHORT = "-t 2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p"
const LONG = "-t 3000 -c:v libx264 -preset veryslow -pix_fmt yuv420p"
/** With -re it is read as fast as it plays, so that its progress can be seen to move. */
const STEADY = "-t 3 -c:v libx264 -preset ultrafast -pix_fmt yuv420p"

const stage = useStage()

describe.skipIf(LACK !== null)(`jobs in a browser${skipNote(LACK)}`, () => {
  it("says what to do where there are no jobs", async () => {
    const page = await stage.openPage()
    await page.goto("/jobs")
    const first = page.getByRole("link", { name: "Run a first command" })
    expect(await first.getAttribute("href")).toBe("/playground")
    await expectAccessible(page)
  })

  it("follows a job to its end, and plays what it made", async () => {
    const page = await stage.openPage()
    await page.goto(`/jobs/${await run(STEADY, "-re")}`)
    const seen = await watchProgress(page)
    await page.getByText("completed", { exact: true }).waitFor()
    expect(await seen()).toBe(true)
    await page.getByRole("link", { name: "made.mp4" }).waitFor()
    await page.getByRole("button", { name: "Run again" }).waitFor()
    await page.waitForFunction("document.querySelector('video').readyState > 0")
    await expectAccessible(page)
    await takePicture(page, "job")
    await page.setViewportSize(PHONE)
    await expectNoOverflow(page)
    await takePicture(page, "job-phone")
  })

  it("downloads what a job made", async () => {
    const page = await stage.openPage()
    await page.goto(`/jobs/${await run(SHORT)}`)
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download" }).click(),
    ])
    expect(download.suggestedFilename()).toBe("made.mp4")
  })

  it("says why a job failed in the words of the tool, and does it again", async () => {
    const page = await stage.openPage({ colorScheme: "dark" })
    await page.goto(`/jobs/${await run("-t 1 -vf scale=0:-5000000", "")}`)
    await page.getByText("failed", { exact: true }).waitFor()
    await page.getByRole("region", { name: "What the tool said last" }).waitFor()
    await expectAccessible(page)
    await takePicture(page, "job-failed-dark")
    const { pathname } = new URL(page.url())
    await page.getByRole("button", { name: "Run again" }).click()
    await page.getByText("This is the job once more, as a new one.").waitFor()
    expect(new URL(page.url()).pathname).not.toBe(pathname)
    await page.getByRole("link", { name: pathname.replace("/jobs/", "") }).waitFor()
  })

  it("cancels a job that runs, and deletes it after a question", async () => {
    const page = await stage.openPage()
    await page.goto(`/jobs/${await run(LONG)}`)
    await page.getByText("processing").waitFor()
    await takePicture(page, "job-running")
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByText("The job was canceled.", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("The job was deleted, with what it made.").waitFor()
    expect(new URL(page.url()).pathname).toBe("/jobs")
  })

  it("brings a list with more open jobs than streams up to date in its place", async () => {
    const page = await stage.openPage()
    const ids = await Promise.all([1, 2, 3, 4].map(() => run(STEADY, "-re")))
    await page.goto("/jobs")
    await page.evaluate("document.querySelector('tbody tr').dataset.kept = 'yes'")
    for (const id of ids) {
      await page.locator(`#status-${id}`).getByText("completed").waitFor({ timeout: 40_000 })
    }
    expect(await page.locator("tr[data-kept]").count()).toBe(1)
    await expectAccessible(page)
    await takePicture(page, "jobs")
    await page.setViewportSize(PHONE)
    await expectNoOverflow(page)
    await takePicture(page, "jobs-phone")
  })

  it("asks again where the service was busy", async () => {
    const page = await stage.openPage({ expected: [/answer: 503/] })
    await page.goto("/jobs")
    await page.route("**/jobs", async (route) => await route.fulfill({ status: 503 }), { times: 1 })
    const busy = page.waitForResponse((answer) => answer.status() === 503)
    await page.evaluate("document.dispatchEvent(new Event('page:stale'))")
    await busy
    const again = await page.waitForResponse("**/jobs")
    expect(again.status()).toBe(200)
  })

  it("applies a filter as it is chosen", async () => {
    const page = await stage.openPage()
    await page.goto("/jobs")
    await page.getByLabel("Status").selectOption("failed")
    await page.waitForURL("**/jobs?kind=&status=failed")
    const statuses = page.locator("tbody td:nth-child(2)")
    expect(new Set(await statuses.allTextContents())).toEqual(new Set(["failed"]))
  })
})

/** Runs a command that makes a film of colours; answers the id of its job. */
async function run(options: string, before = ""): Promise<string> {
  const answer = await fetch(`${stage.service.origin}/v1/commands`, {
    method: "POST",
    headers: { "x-api-key": stage.user.key, "content-type": "application/json" },
    body: JSON.stringify({
      input_files: {},
      output_files: { out_1: "made.mp4" },
      ffmpeg_command: `ffmpeg ${before} -f lavfi -i testsrc2=size=640x360:rate=25 ${options} {{out_1}}`,
    }),
  })
  const text = await answer.text()
  const id = /"command_id":"([^"]+)"/.exec(text)?.[1]
  if (id === undefined) throw new Error(text)
  return id
}

/** Notes whether the progress moves between its beginning and its end, from now on. */
async function watchProgress(page: Page): Promise<() => Promise<unknown>> {
  await page.evaluate(`
    globalThis.moved = false
    new MutationObserver(() => {
      const value = document.querySelector("progress")?.value ?? 0
      if (value > 0 && value < 100) globalThis.moved = true
    }).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true, characterData: true })
  `)
  return async () => await page.evaluate("globalThis.moved")
}
