import { readFile } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { openKeyedCall } from "../system/operate/keyed-call.ts"
import type { KeyedCall } from "../system/operate/keyed-call.ts"
import { mailedLink } from "../system/operate/kept-mails.ts"
import { expectAccessible, LACK, takePicture } from "./browser.ts"
import { useStage } from "./stage.ts"

const EMAIL = "grace@example.com"
const PASSWORD = "a compiler is a fine thing"
const KEY_NAME = "First program"

const record = z.object({ id: z.string(), status: z.string() })

const stage = useStage({ SIGN_UP: "open" })

describe.skipIf(LACK !== null)(`a new user${makeSkipSuffix(LACK)}`, () => {
  it("signs up, creates a key, runs a command with it, and revokes the key", async () => {
    const page = await stage.openVisit({ expected: [/^answer: 401 /] })

    await page.goto("/sign-up")
    await takePicture(page, "sign-up")
    await page.getByLabel("Email").fill(EMAIL)
    await page.keyboard.press("Tab")
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press("Enter")
    await page.waitForURL("/verify-email")
    await page.goto(await mailedLink(stage.service.stateDir, EMAIL))
    await takePicture(page, "confirm-email")
    await expectAccessible(page)
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press("Enter")
    await page.getByText("Your email is confirmed. Welcome.").waitFor()
    await takePicture(page, "first-steps")

    await page.goto("/keys")
    await page.getByRole("link", { name: "Create a key" }).first().press("Enter")
    await page.getByLabel("Name").fill(KEY_NAME)
    await page.keyboard.press("Enter")
    const shown = page.getByRole("region", { name: "The new key", exact: true })
    const key = await shown.locator("code").innerText()
    await takePicture(page, "new-key")
    await page.getByRole("link", { name: "I have stored the key" }).press("Enter")
    await page.getByText(KEY_NAME).first().waitFor()
    expect(await page.content()).not.toContain(key)

    const call = openKeyedCall(stage.service, key)
    const fileId = await upload(call)
    const jobId = await runCommand(call, fileId)

    await page.getByRole("link", { name: "Jobs", exact: true }).press("Enter")
    await page.locator(`a[href="/jobs/${jobId}"]`).first().press("Enter")
    await page.waitForURL(`/jobs/${jobId}`)
    await page.getByText("small.png").first().waitFor()
    await takePicture(page, "finished-job")
    await page.getByRole("link", { name: "Files", exact: true }).press("Enter")
    await page.locator(`a[href="/files/${fileId}"]`).first().waitFor()
    await takePicture(page, "files")

    await page.getByRole("link", { name: "API keys" }).press("Enter")
    await page.getByRole("button", { name: "Revoke" }).press("Enter")
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).press("Enter")
    await page.getByText("The key is revoked").waitFor()
    expect((await call("/jobs")).status).toBe(401)
    await takePicture(page, "revoked-key")
  })

  it("takes over by mail an account that another person prepared", async () => {
    const email = "hedy@example.com"
    const page = await stage.openVisit({ expected: [/^answer: 422 /] })
    await page.goto("/sign-up")
    await page.getByLabel("Email").fill(email)
    await page.getByLabel("Password").fill("what somebody else chose")
    await page.keyboard.press("Enter")
    await page.waitForURL("/verify-email")

    await page.goto(await mailedLink(stage.service.stateDir, email))
    await page.getByLabel("Password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await page.getByText("The password is not the one of the sign-up.").waitFor()
    await expectAccessible(page)
    await takePicture(page, "choose-a-password")
    await page.getByLabel("New password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await page.getByText("Your email is confirmed. Welcome.").waitFor()
    await page.goto("/settings")
    expect(await page.content()).toContain(email)
  })
})

async function upload(call: KeyedCall): Promise<string> {
  const form = new FormData()
  form.set("file", new Blob([await readFile("scripts/demo/command/clip.mp4")]), "clip.mp4")
  const answer = await call("/files", { method: "POST", body: form })
  return record.parse(await answer.json()).id
}

/** Runs a command over a file to its end. */
async function runCommand(call: KeyedCall, fileId: string): Promise<string> {
  const answer = await call("/commands", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      input_files: { in_1: `svc_id://${fileId}` },
      output_files: { out_1: "small.png" },
      ffmpeg_command: "ffmpeg -i {{in_1}} -frames:v 1 -vf scale=64:-2 {{out_1}}",
    }),
  })
  const { command_id: id } = z.object({ command_id: z.string() }).parse(await answer.json())
  async function isDone() {
    const { status } = record.parse(await (await call(`/commands/${id}`)).json())
    expect(status).not.toBe("failed")
    return status === "success"
  }
  await pWaitFor(isDone, { interval: 200 })
  return id
}
