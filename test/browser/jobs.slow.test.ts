import { describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { expectAccessible, expectNoOverflow, LACK, PHONE, takePicture } from "./browser.ts"
import { useStage } from "./stage.ts"

const LONG = "-t 3000 -c:v libx264 -preset veryslow -pix_fmt yuv420p"
/** With -re it is read as fast as it plays, so that its progress can be seen to move. */
const STEADY = "-t 3 -c:v libx264 -preset ultrafast -pix_fmt yuv420p"

const stage = useStage()

describe.skipIf(LACK !== null)(`jobs in a browser${makeSkipSuffix(LACK)}`, () => {
  it("follows a job to its end, and plays its output", async () => {
    const page = await stage.openPage()
    await page.goto(`/jobs/${await run(STEADY, "-re")}`)
    const seen = await watchProgress(page)
    await page.getByText("completed", { exact: true }).waitFor()
    expect(await seen()).toBe(true)
    await page.getByRole("link", { name: "made.mp4" }).waitFor()
    await page.getByRole("button", { name: "Run again" }).waitFor()
    // Not `waitForFunction`: its later attempts run in the page, where the policy forbids `eval`.
    await expect.poll(() => page.evaluate("document.querySelector('video').readyState")).not.toBe(0)
    await expectAccessible(page)
    await takePicture(page, "job")
    await page.setViewportSize(PHONE)
    await expectNoOverflow(page)
    await takePicture(page, "job-phone")
  })

  it("cancels a running job, and deletes it after a confirmation", async () => {
    const page = await stage.openPage()
    await page.goto(`/jobs/${await run(LONG)}`)
    await page.getByText("processing").waitFor()
    await takePicture(page, "job-running")
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByText("The job was canceled.", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("The job and its files were deleted.").waitFor()
    expect(new URL(page.url()).pathname).toBe("/jobs")
  })

  it("updates a list in place if it has more open jobs than event streams", async () => {
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

  it("retries a request while the service is busy", async () => {
    const page = await stage.openPage({ expected: [/answer: 503/] })
    await page.goto("/jobs")
    await page.route("**/jobs", async (route) => await route.fulfill({ status: 503 }), { times: 1 })
    const busy = page.waitForResponse((answer) => answer.status() === 503)
    await page.evaluate("document.dispatchEvent(new Event('page:stale'))")
    await busy
    const again = await page.waitForResponse("**/jobs")
    expect(again.status()).toBe(200)
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
