import { describe, expect, it } from "vitest"
import { z } from "zod"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { openKeyedCall } from "../system/operate/keyed-call.ts"
import { DESK, expectAccessible, expectNoOverflow, LACK, PHONE, takePicture } from "./browser.ts"
import { useStage } from "./stage.ts"

const stage = useStage()
const batchRecord = z.object({
  id: z.string(),
  jobs: z.record(z.string(), z.object({ id: z.string() })),
})

describe.skipIf(LACK !== null)(`batches in a browser${makeSkipSuffix(LACK)}`, () => {
  it("follows a batch to its end in place, then shows its outputs", async () => {
    const { id, jobs } = await create({
      film: film(3),
      slow: film(5),
      small: transform("film", "-vf scale=64:-2"),
      poster: transform("small", "-frames:v 1", "poster.png"),
      broken: transform("film", "-vf crop=99999:99999"),
      behind: transform("broken", "-c copy"),
    })
    const page = await stage.openPage()
    await page.goto(`/batches/${id}`)
    await page.evaluate(WATCH)
    await page.getByText("0 of 6 jobs ended").waitFor()
    await page.locator(`#status-${jobs["slow"]?.id}`).getByText("processing").waitFor()
    await takePicture(page, "batch-running")
    await page.locator(`#status-${jobs["film"]?.id}`).getByText("completed").waitFor()
    await page.locator(`#failure-${jobs["behind"]?.id}`).getByText("input_failed").waitFor()
    await page.getByText("6 of 6 jobs ended, 2 failed or canceled").waitFor()
    await page.getByRole("link", { name: "poster.png", exact: true }).waitFor()
    expect(await page.evaluate("[globalThis.moved, document.querySelectorAll('progress').length]"))
      // The page was never loaded anew, or the note of the first progress would be lost.
      .toEqual([true, 0])
    await page.getByRole("button", { name: "Run failed jobs again" }).waitFor()
  })

  it("is accessible in light and dark, and fits a desk and a phone", async () => {
    const { id } = await create({
      film: film(0.2),
      small: transform("film", "-vf scale=64:-2"),
      copy: transform("film", "-c copy"),
      both: joinOf("film", "small"),
      last: transform("both", "-c copy"),
      broken: transform("copy", "-vf crop=99999:99999"),
    })
    const page = await stage.openPage()
    await page.goto(`/batches/${id}`)
    await page.getByText("6 of 6 jobs ended, 1 failed or canceled").waitFor()
    expect(await page.locator(".graph-edges path").count()).toBe(6)
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      for (const [name, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
        await page.setViewportSize(viewport)
        await expectNoOverflow(page)
        await expectAccessible(page)
        await takePicture(page, `batch-${name}-${colorScheme}`)
      }
    }
  })

  it("cancels a running batch, runs it again, and deletes it after a confirmation", async () => {
    const { id } = await create({ film: film(600), copy: transform("film", "-c copy") })
    const page = await stage.openPage()
    await page.goto("/batches")
    await page.locator(`a[href="/batches/${id}"]`).click()
    await page.getByText("0 of 2 jobs ended").waitFor()
    await expectAccessible(page)
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByText("The open jobs of the batch were canceled.").waitFor()
    await page.getByRole("button", { name: "Run failed jobs again" }).click()
    await page.getByText("The failed jobs run again as this new batch.").waitFor()
    expect(page.url()).not.toContain(id)
    await page.getByText("0 of 2 jobs ended").waitFor()
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByText("2 of 2 jobs ended, 2 failed or canceled").waitFor()
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("The batch, its jobs and their files were deleted.").waitFor()
    expect(new URL(page.url()).pathname).toBe("/batches")
  })
})

/**
 * Notes in the page whether a progress bar moves between its beginning and its end, from now on.
 */
const WATCH = `
  globalThis.moved = false
  new MutationObserver(() => {
    for (const { value } of document.querySelectorAll(".graph progress")) {
      if (value > 0 && value < 100) globalThis.moved = true
    }
  }).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true, characterData: true })
`

/** Create of a film of some seconds, made as slowly as it would be shown. */
function film(seconds: number) {
  return {
    commands: {
      input_files: {},
      output_files: { out_1: "film.mp4" },
      ffmpeg_command: `ffmpeg -re -f lavfi -i testsrc2=size=320x180:rate=25 -t ${seconds} -c:v libx264 -preset ultrafast {{out_1}}`,
    },
  }
}

/** Create that reads the only output of another job of the batch. */
function transform(name: string, options: string, output = `${name}-2.mp4`) {
  return {
    commands: {
      input_files: { in_1: `svc_id://${name}/out_1` },
      output_files: { out_1: output },
      ffmpeg_command: `ffmpeg -i {{in_1}} ${options} {{out_1}}`,
    },
  }
}

/** Create that puts the films of two other jobs into one file. */
function joinOf(first: string, second: string) {
  return {
    commands: {
      input_files: { in_1: `svc_id://${first}/out_1`, in_2: `svc_id://${second}/out_1` },
      output_files: { out_1: "both.mp4" },
      ffmpeg_command: "ffmpeg -i {{in_1}} -i {{in_2}} -map 0:v -map 1:v -c copy {{out_1}}",
    },
  }
}

async function create(jobs: object) {
  const answer = await openKeyedCall(stage.service, stage.user.key)("/batches", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jobs }),
  })
  return batchRecord.parse(await answer.json())
}
