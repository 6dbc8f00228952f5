import { beforeAll, describe, expect, it } from "vitest"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { startReceiver } from "../system/receiver.ts"
import type { Receiver } from "../system/receiver.ts"
import { expectAccessible, LACK, takePicture } from "./browser.ts"
import { useStage } from "./stage.ts"

let receiver: Receiver
/** Status that the receiver answers. */
let status = 204

const stage = useStage({ ALLOWED_PRIVATE_HOSTS: "127.0.0.1", WEBHOOK_RETRY_SECONDS: "600" })

describe.skipIf(LACK !== null)(`the pages of webhooks in a browser${makeSkipSuffix(LACK)}`, () => {
  beforeAll(async () => {
    receiver = stage.use(
      await startReceiver((response) => {
        response.writeHead(status).end(status === 204 ? undefined : "no room\n".repeat(20))
      }),
    )
  })

  it("show, hide and rotate the secret by keyboard, after a confirmation", async () => {
    const page = await stage.openPage()
    await page.goto("/webhooks")
    await takePicture(page, "webhooks-empty")
    await page.getByRole("button", { name: "Show the secret" }).focus()
    await page.keyboard.press("Enter")
    const secret = page.getByRole("region", { name: "Signing secret", exact: true }).locator("code")
    const before = await secret.innerText()
    expect(before).toMatch(/^whsec_/)
    await page.locator("#secret").getByRole("button", { name: "Copy" }).click()
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(before)
    await page.getByRole("button", { name: "Rotate the secret" }).focus()
    await page.keyboard.press("Enter")
    await takePicture(page, "webhooks-rotate")
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).press("Enter")
    await page.getByRole("button", { name: "Rotate the secret" }).press("Enter")
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).press("Enter")
    await page.getByText("A new secret signs from now on").waitFor()
    await page.getByText("The previous secret is valid until").waitFor()
    expect(await page.content()).not.toContain(before)
    await page.getByRole("button", { name: "Show the secret" }).press("Enter")
    expect(await secret.innerText()).not.toBe(before)
  })

  it("send a test event, show its tries, and replay it", async () => {
    status = 503
    const page = await stage.openPage()
    await page.goto("/webhooks")
    await page.getByLabel("URL of your receiver").fill(`${receiver.origin}/hook`)
    await page.keyboard.press("Enter")
    await page.getByText("the receiver answered 503").waitFor()
    await page.getByText("waiting").first().waitFor()
    await page.getByText("Its first 160 characters").click()
    await page.getByText("no room").waitFor()
    await expectAccessible(page)
    await takePicture(page, "webhooks-delivery")
    status = 204
    await page.getByRole("button", { name: "Replay" }).press("Enter")
    await page.getByText("The receiver answered 204.").waitFor()
    const ids = (await receiver.untilReceived(2)).map(({ headers }) => headers["webhook-id"])
    expect(new Set(ids)).toEqual(new Set([new URL(page.url()).pathname.split("/").at(-1)]))
  })
})
