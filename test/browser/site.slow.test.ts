import axe from "axe-core"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { ensureSite } from "../../scripts/site/ensure.ts"
import { VIEWER, listPages } from "../support/site-pages.ts"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { DESK, expectNoOverflow, LACK, PHONE, takePicture } from "./browser.ts"
import { useStage } from "./stage.ts"

/** Pages of every kind that the site has. */
const PATHS = [
  "/docs",
  "/docs/guide/commands",
  "/docs/guide/webhooks",
  "/docs/operate/settings",
  "/docs/reference/",
  "/docs/reference/commands",
  "/docs/errors/",
  "/docs/errors/not_found",
]

const LOOKS = [
  { name: "desk-light", viewport: DESK, colorScheme: "light" },
  { name: "desk-dark", viewport: DESK, colorScheme: "dark" },
  { name: "phone-light", viewport: PHONE, colorScheme: "light" },
  { name: "phone-dark", viewport: PHONE, colorScheme: "dark" },
] as const

const axeResults = z.object({
  violations: z.array(
    z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })).min(1) }),
  ),
})

beforeAll(async () => {
  await ensureSite()
})

const stage = useStage()

/** Returns all findings of axe on a page, those of every impact. */
async function findAxeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = axeResults.parse(await page.evaluate("axe.run()"))
  return violations.map(({ id, nodes }) => `${page.url()}: ${id}: ${nodes[0]?.html}`)
}

/** Collects the requests of a page to other origins. */
function watchOtherOrigins(page: Page): string[] {
  const others: string[] = []
  page.on("request", (request) => {
    const url = request.url()
    const isOwn = url.startsWith(`${stage.service.origin}/`) || /^(?:data|blob):/.test(url)
    if (!isOwn) others.push(url)
  })
  return others
}

describe.skipIf(LACK !== null)(`the documentation in a browser${makeSkipSuffix(LACK)}`, () => {
  it("has no finding of axe, fits its window and asks no other origin", async () => {
    const page = await stage.openVisit()
    const others = watchOtherOrigins(page)
    const findings: string[] = []
    for (const path of [...PATHS, VIEWER]) {
      await page.goto(path)
      if (path === VIEWER) await page.getByText("Client Libraries").waitFor()
      for (const { name, viewport, colorScheme } of LOOKS) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
        await page.setViewportSize(viewport)
        if (path === VIEWER) await page.reload({ waitUntil: "networkidle" })
        else await expectNoOverflow(page)
        await takePicture(page, `site${path.replaceAll("/", "-")}-${name}`)
        findings.push(...(await findAxeFindings(page)))
      }
    }
    expect(findings).toEqual([])
    expect(others).toEqual([])
  })

  it.each(LOOKS.map((look, at) => ({ ...look, at })))(
    "has no finding of axe on its other pages, and fits its window: $name",
    async ({ viewport, colorScheme, at }) => {
      const page = await stage.openVisit()
      const others = listPages().filter((path) => path !== VIEWER && !PATHS.includes(path))
      // Each look has every fourth page, because a kind of page looks the same with other words.
      const paths = others.filter((_, index) => index % LOOKS.length === at)
      expect(paths.length).toBeGreaterThan(25)
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      await page.setViewportSize(viewport)
      const findings: string[] = []
      for (const path of paths) {
        await page.goto(path)
        await expectNoOverflow(page)
        findings.push(...(await findAxeFindings(page)))
      }
      expect(findings).toEqual([])
    },
  )

  it("finds a page by words in its text, and opens it by the keyboard", async () => {
    const page = await stage.openVisit()
    await page.goto("/docs")
    await page.keyboard.press("/")
    await page.getByLabel("Search the documentation").fill("replay a delivery")
    await page.locator("dialog a").first().waitFor()
    expect(await findAxeFindings(page)).toEqual([])
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/docs\/(?:guide|reference)\/webhooks/)
  })

  it("keeps the color scheme that its reader chose", async () => {
    const page = await stage.openVisit({ colorScheme: "light" })
    await page.goto("/docs")
    await page.getByLabel("Switch between light and dark").click()
    await page.goto("/docs/guide/commands")
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark")
    expect(await page.evaluate("getComputedStyle(document.body).colorScheme")).toBe("dark")
  })

  it("copies an example", async () => {
    const page = await stage.openVisit()
    await page.goto("/docs/guide/capabilities")
    await page.locator(".code").first().hover()
    await page.getByRole("button", { name: "Copy" }).first().click()
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("curl $API/capabilities\n")
  })

  it("opens its navigation on a phone", async () => {
    const page = await stage.openVisit({ viewport: PHONE })
    await page.goto("/docs/guide/commands")
    await page.getByRole("button", { name: "Menu" }).click()
    expect(await findAxeFindings(page)).toEqual([])
    await page.getByRole("link", { name: "Transcode" }).first().click()
    await page.waitForURL("/docs/guide/transcode")
  })

  it("is whole without script", async () => {
    const browserPage = await stage.openVisit()
    const context = await browserPage.context().browser()?.newContext({
      baseURL: stage.service.origin,
      javaScriptEnabled: false,
      viewport: PHONE,
      colorScheme: "dark",
    })
    if (!context) throw new Error("the browser is gone")
    const page = await context.newPage()
    await page.goto("/docs/guide/commands")
    expect(await page.getByText("Fields of the request").first().isVisible()).toBe(true)
    expect(await page.locator(".search-button").isVisible()).toBe(false)
    await page.getByRole("button", { name: "Menu" }).click()
    await page.getByRole("link", { name: "Files" }).first().click()
    await page.waitForURL("/docs/guide/files")
    await context.close()
  })
})
