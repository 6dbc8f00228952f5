import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { openKeyedCall } from "../system/operate/keyed-call.ts"
import { DESK, expectAccessible, expectNoOverflow, LACK, PHONE, takePicture } from "./browser.ts"
import { useStage } from "./stage.ts"

/** Where nothing listens. */
const NOWHERE = "127.0.0.1:9"

/** Pages that need no id. */
const PATHS = [
  "/",
  "/playground",
  "/jobs",
  "/batches",
  "/files",
  "/webhooks",
  "/keys",
  "/keys/new",
  "/usage",
  "/settings",
  "/operate/accounts",
  "/operate/plans",
  "/operate/health",
  "/operate/dead-letters",
]
const SIGN_IN_PATHS = ["/sign-in", "/sign-up", "/forgot-password", "/verify-email"]

const LOOKS = [
  { name: "desk-light", viewport: DESK, colorScheme: "light", isAudited: true },
  { name: "desk-dark", viewport: DESK, colorScheme: "dark", isAudited: false },
  { name: "phone-light", viewport: PHONE, colorScheme: "light", isAudited: false },
  { name: "phone-dark", viewport: PHONE, colorScheme: "dark", isAudited: true },
] as const

const record = z.object({ id: z.string() })

/** Pages of what the account has. */
let made: string[]

const stage = useStage(
  {
    SIGN_UP: "open",
    PAID_REQUESTS_PER_MINUTE: "1000",
    ALLOWED_PRIVATE_HOSTS: NOWHERE,
  },
  { isOperator: true },
)

describe.skipIf(LACK !== null)(`every page${makeSkipSuffix(LACK)}`, () => {
  beforeAll(async () => {
    made = await makeRecords()
  })

  it("is accessible and fits its window: for a visitor", async () => {
    expect(await lookAtAll(await stage.openVisit(), SIGN_IN_PATHS)).toEqual([])
  })

  it("is accessible and fits its window: for an operator", async () => {
    expect(await lookAtAll(await stage.openPage(), PATHS)).toEqual([])
  })

  it("is accessible and fits its window: with records of the account", async () => {
    expect(await lookAtAll(await stage.openPage(), made)).toEqual([])
  })
})

describe.skipIf(LACK !== null)(`the dashboard in a browser${makeSkipSuffix(LACK)}`, () => {
  it("redirects a visitor to the sign-in page", async () => {
    const page = await stage.openVisit()
    await page.goto("/")
    expect(new URL(page.url()).pathname).toBe("/sign-in")
  })

  it("shows a signed-in user the account", async () => {
    const page = await stage.openPage({ viewport: PHONE })
    await page.goto("/")
    expect(await page.title()).toContain("Overview")
    await expectNoOverflow(page)
    await expectAccessible(page)
    await takePicture(page, "overview-phone")
  })

  it("runs no inline script and applies no inline style", async () => {
    const page = await stage.openPage({
      expected: [/Content Security Policy/],
    })
    await page.goto("/")
    await page.evaluate(`
      const script = document.createElement("script")
      script.textContent = "globalThis.wasRun = true"
      document.head.append(script)
      document.body.insertAdjacentHTML("beforeend", "<p id=p style='color: red'>text</p>")
    `)
    expect(await page.evaluate("globalThis.wasRun")).toBeUndefined()
    expect(await page.evaluate("getComputedStyle(p).color")).not.toBe("rgb(255, 0, 0)")
  })

  it("fails the checks with a nameless button and an element that is too wide", async () => {
    const page = await stage.openPage({ expected: [/a fault on purpose/] })
    await page.goto("/")
    await page.evaluate(`
      document.body.insertAdjacentHTML("beforeend", "<img src='data:,'><button></button>")
      const wide = document.createElement("div")
      wide.style.width = "3000px"
      wide.textContent = "wide"
      document.body.append(wide)
      console.error("a fault on purpose")
    `)
    await expect(expectAccessible(page)).rejects.toThrow("button-name")
    await expect(expectNoOverflow(page)).rejects.toThrow("3")
  })
})

/** Looks at pages, and answers those that did not come. */
async function lookAtAll(page: Page, paths: readonly string[]): Promise<string[]> {
  const missing: string[] = []
  for (const path of paths) {
    const answer = await page.goto(path)
    if (!answer?.ok() || new URL(page.url()).pathname !== path) missing.push(path)
    await lookAt(page, path)
  }
  return missing
}

/** Checks a page in each of its looks, by axe once a colour scheme and once a width. */
async function lookAt(page: Page, path: string): Promise<void> {
  const [, ...words] = path.replace(/[\da-f-]{36}/, "one").split("/")
  for (const { name, viewport, colorScheme, isAudited } of LOOKS) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    await page.setViewportSize(viewport)
    await takePicture(page, `${words.join("-") || "overview"}-${name}`)
    await expectNoOverflow(page)
    if (isAudited) await expectAccessible(page)
  }
}

/** Makes something of each kind that has a page, and answers the pages. */
async function makeRecords(): Promise<string[]> {
  const call = openKeyedCall(stage.service, stage.user.key)
  async function post(path: string, body: unknown): Promise<unknown> {
    const headers = { "content-type": "application/json" }
    const answer = await call(path, { method: "POST", headers, body: JSON.stringify(body) })
    return await answer.json()
  }
  const form = new FormData()
  form.set("file", new Blob(["1\n00:00:01,000 --> 00:00:02,000\nHello\n"]), "a.srt")
  const file = record.parse(await (await call("/files", { method: "POST", body: form })).json())
  const command = await post("/commands", {
    input_files: {},
    output_files: { out_1: "a.png" },
    ffmpeg_command: "ffmpeg -f lavfi -i nosuchsource {{out_1}}",
  })
  const delivery = await post("/webhooks/test", { url: `http://${NOWHERE}/hook` })
  const { command_id: job } = z.object({ command_id: z.string() }).parse(command)
  return [`/files/${file.id}`, `/jobs/${job}`, `/webhooks/${record.parse(delivery).id}`]
}
