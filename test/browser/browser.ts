import { mkdir } from "node:fs/promises"
import { resolve } from "node:path"
import axe from "axe-core"
import { chromium } from "playwright-core"
import type { Browser, BrowserContext, Page, ViewportSize } from "playwright-core"
import { expect, onTestFinished } from "vitest"
import { z } from "zod"
import type { ServiceProcess } from "../../scripts/cli/service-process.ts"
import { findChromium } from "../../scripts/setup/test-tools.ts"
import type { TestUser } from "./users.ts"

/** Where pictures of pages are put. */
const PICTURES = resolve("node_modules/.cache/pictures")
const ACTION_MS_MAX = 30_000

export const DESK = { width: 1280, height: 800 }
export const PHONE = { width: 390, height: 844 }

/** Why no page can be opened on this machine; null where it can. */
export const LACK = findChromium() === null ? "Chromium is not installed" : null

export type PageOptions = {
  /** Signed-in user; nobody by default. */
  user?: TestUser
  viewport?: ViewportSize
  colorScheme?: "light" | "dark"
  /** Faults of the page that its test brings about on purpose. */
  expected?: readonly RegExp[]
}

/** A browser without a window, which ends when it is disposed of. */
export type TestBrowser = AsyncDisposable & {
  /**
   * Opens a page in a context of its own until the test ends. The test fails for what the console
   * calls an error, a violation of the content security policy included, and for requests that
   * fail.
   */
  openPage(service: Pick<ServiceProcess, "origin">, options?: PageOptions): Promise<Page>
}

export async function openBrowser(): Promise<TestBrowser> {
  const path = findChromium()
  if (path === null) throw new Error("there is no Chromium")
  const browser = await chromium.launch({
    executablePath: path,
    // The sandbox of Chromium refuses to start for root.
    chromiumSandbox: process.getuid?.() !== 0,
  })
  return {
    openPage: async (service, options = {}) => await openPage(browser, service, options),
    [Symbol.asyncDispose]: async () => await browser.close(),
  }
}

async function openPage(
  browser: Browser,
  service: Pick<ServiceProcess, "origin">,
  { user, viewport = DESK, colorScheme = "light", expected = [] }: PageOptions,
): Promise<Page> {
  const context = await browser.newContext({
    baseURL: service.origin,
    viewport,
    colorScheme,
    // Pictures and checks see a page at rest.
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  })
  context.setDefaultTimeout(ACTION_MS_MAX)
  const faults = watchFaults(context)
  onTestFinished(async () => {
    await context.close()
    const unexpected = faults.filter((fault) => !expected.some((pattern) => pattern.test(fault)))
    expect(unexpected, "faults of the page").toEqual([])
  })
  if (user) await signIn(context, service, user)
  return await context.newPage()
}

/** Collects errors on the pages of a context, a line each. */
function watchFaults(context: BrowserContext): string[] {
  const faults: string[] = []
  context.on("console", (message) => {
    const text = message.text()
    // The listener of responses reports these, with their URL.
    if (message.type() !== "error" || text.startsWith("Failed to load resource")) return
    faults.push(`console: ${text}`)
  })
  context.on("weberror", (error) => faults.push(`script: ${error.error().message}`))
  context.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? ""
    // A navigation aborts requests that the page still loads.
    if (reason !== "net::ERR_ABORTED") faults.push(`request: ${request.url()}: ${reason}`)
  })
  context.on("response", (response) => {
    const asked = `${response.request().method()} ${response.url()}`
    if (response.status() >= 400) faults.push(`answer: ${response.status()} ${asked}`)
  })
  return faults
}

const signedIn = new WeakMap<object, Map<string, Cookies>>()

type Cookies = Awaited<ReturnType<BrowserContext["cookies"]>>

/** Signs a user in; once for each service, since tries to sign in are limited. */
async function signIn(
  context: BrowserContext,
  service: Pick<ServiceProcess, "origin">,
  { email, password }: TestUser,
): Promise<void> {
  const known = signedIn.get(service) ?? new Map<string, Cookies>()
  signedIn.set(service, known)
  const cookies = known.get(email)
  if (cookies) return await context.addCookies(cookies)
  const answer = await context.request.post("/api/auth/sign-in/email", {
    headers: { origin: service.origin },
    data: { email, password },
  })
  if (!answer.ok()) throw new Error(`nobody was signed in: ${await answer.text()}`)
  known.set(email, await context.cookies())
}

const axeResults = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      impact: z.string().nullable(),
      help: z.string(),
      nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
    }),
  ),
})

/** Fails for what axe calls a serious or critical fault of the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  // Not a script element, which the content security policy of the page forbids.
  await page.evaluate(axe.source)
  const results = axeResults.parse(await page.evaluate("axe.run()"))
  const serious = results.violations.filter(
    ({ impact }) => impact === "serious" || impact === "critical",
  )
  const told = serious.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary ?? ""}`),
  )
  if (told.length > 0) throw new Error(`axe on ${page.url()}:\n${told.join("\n\n")}`)
}

/** Fails where the page is wider than its window, or a list of it than the place that it has. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const width = await page.evaluate("document.documentElement.scrollWidth")
  expect(width, `width of ${page.url()}`).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)
  expect(await page.evaluate(CUT_OFF), `lists of ${page.url()} that are cut off`).toEqual([])
}

/** Runs in the browser. */
const CUT_OFF = `[...document.querySelectorAll(".table-scroll:has(> .stacked)")]
  .filter((place) => place.scrollWidth > place.clientWidth)
  .map((place) => place.ariaLabel)`

/** Takes a picture of the whole page for people to look at, and says where it is. */
export async function takePicture(page: Page, name: string): Promise<string> {
  await mkdir(PICTURES, { recursive: true })
  const path = resolve(PICTURES, `${name}.png`)
  await page.screenshot({ path, fullPage: true, animations: "disabled" })
  console.log(`Picture: ${path}`)
  return path
}
