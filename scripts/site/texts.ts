import { convertMarkdownToText, readPageSummary, readPageTitle, makePageUrl } from "./page.ts"
import type { SitePage } from "./page.ts"
import type { NavigationSection } from "./navigation.ts"
import { resolvePageLink } from "./read-pages.ts"

// Texts for programs such as language models: a Markdown version of each page, and llms.txt.

/** Returns the URL path of the Markdown version of a page. */
export function makeMarkdownPageUrl({ path }: SitePage): string {
  return `/docs/${path}.md`
}

/** Returns the Markdown version of a page, whose links lead to URLs of the site. */
export function makeMarkdownPage(page: SitePage): string {
  const parts = page.markdown.split(/(^```[^\n]*\n[\s\S]*?^```$)/m)
  return parts
    .map((part, at) => {
      if (at % 2 === 1) return part
      return part.replaceAll(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (_, mark, text, target) => {
        const resolved = resolvePageLink(page, String(target))
        if (resolved === null) return String(text)
        return `${mark}[${text}](${resolved})`
      })
    })
    .join("")
}

/** Returns the text of /docs/llms.txt: all pages of the navigation with their first sentences. */
export function makeLlmsText(
  pages: ReadonlyMap<string, SitePage>,
  sections: NavigationSection[],
): string {
  const lists = sections.map(({ title, pages: paths }) => {
    const lines = paths.flatMap((path) => {
      const page = pages.get(path)
      if (!page) return []
      return [
        `- [${convertMarkdownToText(readPageTitle(page))}](${makeMarkdownPageUrl(page)}): ${readPageSummary(page)}`,
      ]
    })
    return `## ${title}\n\n${lines.join("\n")}`
  })
  const home = pages.get("index")
  const lead = home ? readPageSummary(home) : ""
  return [
    "# Lathe",
    `> ${lead}`,
    "Each page of the documentation is Markdown under its address with `.md` at its end. Each error code has a page: `/docs/errors/<code>.md`. The interface as OpenAPI 3.1: [/v1/openapi.json](/v1/openapi.json).",
    ...lists,
    "",
  ].join("\n\n")
}

/** Row of the search index: a section of a page, with its URL and text. */
export type SearchIndexRow = {
  id: number
  url: string
  page: string
  heading: string
  text: string
}

/** Returns the URL path of a page, with the anchor of a heading if `anchor` is defined. */
export function makeHeadingUrl({ path }: SitePage, anchor: string | undefined): string {
  return anchor === undefined ? makePageUrl(path) : `${makePageUrl(path)}#${anchor}`
}
