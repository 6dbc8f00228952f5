import { cpSync, globSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import Eleventy from "@11ty/eleventy"
import { makeTempFolder } from "../cli/temp-folder.ts"
import { buildSiteAssets, writeHashedAsset } from "./assets.ts"
import type { SiteAssets } from "./assets.ts"
import { renderInlineMarkdown, renderPage } from "./markdown.ts"
import type { RenderedPage } from "./markdown.ts"
import { makeNavigationSections } from "./navigation.ts"
import type { NavigationSection } from "./navigation.ts"
import { convertMarkdownToText, readPageSummary, readPageTitle, makePageUrl } from "./page.ts"
import type { SitePage } from "./page.ts"
import { readPages, resolvePageLink } from "./read-pages.ts"
import { readDocumentedServiceData } from "./service-facts.ts"
import { makeHeadingUrl, makeLlmsText, makeMarkdownPage, makeMarkdownPageUrl } from "./texts.ts"
import type { SearchIndexRow } from "./texts.ts"
import { readApiViewerScript } from "./viewer.ts"

/** Page of the site, with the HTML and the sections that were rendered from its Markdown. */
type HtmlPage = SitePage & RenderedPage

/** Path of the page with the API viewer, which has no Markdown source. */
const VIEWER = "reference/viewer"

/**
 * Builds the documentation site into an empty folder, in which the path of each file is its URL
 * path. Returns the paths of the source files.
 */
export async function buildSite(folder: string): Promise<string[]> {
  await using temporary = await makeTempFolder("site")
  const [facts, assets, viewer] = await Promise.all([
    readDocumentedServiceData(temporary.path),
    buildSiteAssets(folder),
    readApiViewerScript(),
  ])
  const pages = (await readPages(facts)).map((page) => ({
    ...page,
    ...renderPage(page.markdown, (link) => resolvePageLink(page, link)),
  }))
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const sections = makeNavigationSections(pages.map(({ path }) => path))
  requireTargets(pages)
  for (const page of pages) write(folder, makeMarkdownPageUrl(page), makeMarkdownPage(page))
  write(folder, "/docs/llms.txt", makeLlmsText(byPath, sections))
  const index = writeHashedAsset(folder, "search.json", JSON.stringify(makeSearchRows(pages)))
  const scripts = [writeHashedAsset(folder, "viewer.js", viewer), assets.viewerStart]
  await writeHtml(folder, { pages: byPath, sections, assets: { ...assets, index }, scripts })
  for (const picture of globSync("docs/*/pictures/*")) {
    cpSync(picture, join(folder, picture), { recursive: true })
  }
  return [...facts.inputs, ...pages.flatMap(({ source }) => source ?? [])]
}

type Site = {
  pages: ReadonlyMap<string, HtmlPage>
  sections: NavigationSection[]
  assets: SiteAssets & { index: string }
  /** URL paths of the scripts that the page of the API viewer loads. */
  scripts: string[]
}

/** Writes the HTML files of all pages with Eleventy and the layout of the theme. */
async function writeHtml(folder: string, site: Site): Promise<void> {
  const eleventy = new Eleventy("scripts/site/theme", join(folder, "docs"), {
    quietMode: true,
    config(configuration) {
      configuration.setIncludesDirectory("layouts")
      configuration.setTemplateFormats(["html"])
      configuration.addGlobalData("assets", site.assets)
      for (const page of site.pages.values()) {
        configuration.addTemplate(`${page.path}.html`, page.html, describePage(page, site))
      }
      configuration.addTemplate(`${VIEWER}.html`, VIEWER_HTML, describeViewer(site))
    },
  })
  eleventy.disableLogger()
  await eleventy.write()
}

const COMMON = { layout: "page.liquid", templateEngineOverride: false }

/** Returns the variables of the layout `page.liquid` for a page. */
function describePage(page: HtmlPage, { pages, sections }: Site): Record<string, unknown> {
  const { path } = page
  const order = sections.flatMap((section) => section.pages)
  const at = order.indexOf(path)
  const headings = page.sections.flatMap(({ heading }) => heading ?? [])
  return {
    ...COMMON,
    path,
    permalink: `${path}.html`,
    url: makePageUrl(path),
    twin: makeMarkdownPageUrl(page),
    title: renderInlineMarkdown(readPageTitle(page)),
    plainTitle: convertMarkdownToText(readPageTitle(page)),
    summary: readPageSummary(page),
    headings: headings.filter(({ level }) => level < 4),
    sections: describeSections(path, pages, sections),
    previous: at > 0 ? describeLink(pages.get(order[at - 1] ?? "")) : null,
    next: at >= 0 ? describeLink(pages.get(order[at + 1] ?? "")) : null,
  }
}

const VIEWER_HTML = `<div id="main"><div id="viewer"><main><p>The viewer needs a script. The <a href="/docs/reference/">reference</a> has the same operations without one.</p></main></div></div>`

function describeViewer({ pages, sections, scripts }: Site): Record<string, unknown> {
  return {
    ...COMMON,
    path: VIEWER,
    permalink: `${VIEWER}.html`,
    url: makePageUrl(VIEWER),
    plainTitle: "API viewer",
    summary: "Viewer of the OpenAPI document, which sends requests to this service.",
    headings: [],
    sections: describeSections(VIEWER, pages, sections),
    scripts,
    wide: true,
  }
}

/** Returns the navigation of a page: all sections, with `isOpen` for the section of the page. */
function describeSections(
  path: string,
  pages: ReadonlyMap<string, SitePage>,
  sections: NavigationSection[],
): unknown[] {
  const [folder = ""] = path.split("/")
  return sections.map(({ title, pages: paths }) => ({
    title,
    isOpen:
      paths.some((each) => each === path || each.split("/")[0] === folder) || path === "index",
    pages: paths.map((each) => describeLink(pages.get(each))),
  }))
}

function describeLink(page: SitePage | undefined) {
  if (!page) return null
  const title = convertMarkdownToText(readPageTitle(page)).replace(/: reference$/, "")
  return { url: makePageUrl(page.path), title }
}

/** Throws if a link between pages leads to a page or a heading that is missing. */
function requireTargets(pages: HtmlPage[]): void {
  const targets = new Set(["/docs/reference/viewer", "/docs/llms.txt"])
  for (const page of pages) {
    for (const { heading } of page.sections) targets.add(makeHeadingUrl(page, heading?.anchor))
  }
  for (const { path, html } of pages) {
    for (const [, link = ""] of html.matchAll(/<a href="([^"]*)"/g)) {
      const address = link.startsWith("#") ? `${makePageUrl(path)}${link}` : link
      if (!/^\/docs(?:[/#]|$)/.test(address) || targets.has(address)) continue
      throw new Error(`${path} links to ${link}, which does not exist`)
    }
  }
}

/**
 * Makes the rows of the search index: one for each heading of a page, with the text below the
 * heading, and one for the text before the first heading.
 */
function makeSearchRows(pages: HtmlPage[]): SearchIndexRow[] {
  const rows = pages.flatMap((page) =>
    page.sections.map(({ heading, text }) => ({
      url: makeHeadingUrl(page, heading?.anchor),
      page: convertMarkdownToText(readPageTitle(page)),
      heading: heading?.text ?? "",
      text: convertMarkdownToText(text),
    })),
  )
  return rows.map((row, id) => ({ id, ...row }))
}

function write(folder: string, path: string, text: string): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
