import { chromium } from "playwright-core"
import type { Browser } from "playwright-core"
import { SECTIONS } from "../../../src/dashboard/sections.ts"
import { startServiceProcess } from "../../local/service-process.ts"
import { findChromium } from "../../setup/chromium.ts"
import { formatDifference, formatMs } from "../figure.ts"
import type { Figure } from "../figure.ts"
import type { BenchScope } from "../scope.ts"
import { median, repeat, timeMs } from "../statistics.ts"
import { signInOperator } from "./sign-in.ts"

const GOAL = { scriptBytes: 60 * 1024, paintMs: 300 }
const ROUNDS = { warmUp: 5, counted: 25 }
const PAINTS = 5
/** Two lines of HTML: what the browser needs for any page at all. */
const BARE_PAGE = "/docs/errors/not_found"

type Visit = { origin: string; cookie: string }
type Sizes = { html: number; css: number; script: number }

/** What each page of the dashboard costs: time of the server, bytes, and time to its first paint. */
export async function benchDashboard(scope: BenchScope): Promise<Figure[]> {
  const service = scope.use(await startServiceProcess({ signal: scope.signal }))
  const { origin } = service
  const visit = { origin, cookie: await signInOperator(service, "bench@lathe.test") }
  const browser = await openBrowser(scope)
  const healthMs = await medianMs(async () => await drain(await fetch(`${origin}/v1/health`)))
  const bareMs = browser && (await paintMs(browser, visit, BARE_PAGE))
  const figures: Figure[] = []
  for (const { path, title } of SECTIONS) {
    const serverMs = await medianMs(async () => await drain(await open(visit, path)))
    figures.push(
      serverFigure(title, serverMs, healthMs),
      sizeFigure(title, await weigh(visit, path)),
    )
    if (browser && bareMs !== null) {
      figures.push(paintFigure(title, await paintMs(browser, visit, path), bareMs))
    }
  }
  return figures
}

async function open({ origin, cookie }: Visit, path: string): Promise<Response> {
  const headers = { cookie, accept: "text/html" }
  const answer = await fetch(origin + path, { headers, redirect: "manual" })
  if (answer.status === 200) return answer
  throw new Error(`${path} was answered ${answer.status}`)
}

async function drain(answer: Response): Promise<void> {
  await answer.arrayBuffer()
}

async function medianMs(work: () => Promise<void>): Promise<number> {
  await repeat(ROUNDS.warmUp, work)
  return median(await repeat(ROUNDS.counted, async () => await timeMs(work)))
}

/** Bytes of a page and of all that it loads, as they are sent. */
async function weigh(visit: Visit, path: string): Promise<Sizes> {
  const html = await (await open(visit, path)).text()
  const assets = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:css|js))"/g)]
  const sizes = { html: Buffer.byteLength(html), css: 0, script: 0 }
  for (const [, address = ""] of assets) {
    const { byteLength } = await (await open(visit, address)).arrayBuffer()
    sizes[address.endsWith(".css") ? "css" : "script"] += byteLength
  }
  return sizes
}

async function openBrowser(scope: BenchScope): Promise<Browser | null> {
  const executablePath = findChromium()
  if (executablePath === null) return null
  const chromiumSandbox = process.getuid?.() !== 0
  const browser = await chromium.launch({ executablePath, chromiumSandbox })
  scope.defer(async () => await browser.close())
  return browser
}

/** From the begin of the navigation to the first paint of content, with nothing in the cache. */
async function paintMs(browser: Browser, { origin, cookie }: Visit, path: string): Promise<number> {
  async function paint(): Promise<number> {
    const context = await browser.newContext({ extraHTTPHeaders: { cookie } })
    const page = await context.newPage()
    await page.goto(origin + path)
    const ms: unknown = await page.evaluate(FIRST_PAINT)
    await context.close()
    return Number(ms)
  }
  // The first one also waits for what the browser starts once.
  await paint()
  return median(await repeat(PAINTS, paint))
}

/** Runs in the browser. */
const FIRST_PAINT = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries()) {
      if (name === "first-contentful-paint") resolve(startTime)
    }
  }).observe({ type: "paint", buffered: true })
})`

function serverFigure(title: string, ms: number, healthMs: number): Figure {
  return {
    name: `${title}: page, p50`,
    measured: formatMs(ms),
    reference: `GET /v1/health ${formatMs(healthMs)}`,
    comparison: formatDifference(ms - healthMs, formatMs),
    goal: "",
    isMet: null,
  }
}

function sizeFigure(title: string, { html, css, script }: Sizes): Figure {
  return {
    name: `${title}: script`,
    measured: formatKilobytes(script),
    reference: `HTML ${formatKilobytes(html)}, CSS ${formatKilobytes(css)}`,
    comparison: "",
    goal: `<= ${formatKilobytes(GOAL.scriptBytes)}`,
    isMet: script <= GOAL.scriptBytes,
  }
}

function paintFigure(title: string, ms: number, bareMs: number): Figure {
  return {
    name: `${title}: first contentful paint`,
    measured: formatMs(ms),
    reference: `page without styles ${formatMs(bareMs)}`,
    comparison: formatDifference(ms - bareMs, formatMs),
    goal: `<= ${GOAL.paintMs} ms`,
    isMet: ms <= GOAL.paintMs,
  }
}

function formatKilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}
