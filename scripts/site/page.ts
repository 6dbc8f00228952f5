/** Page of the documentation. */
export type SitePage = {
  /**
   * Path below /docs without extension, such as `guide/commands`. The path of a folder's page ends
   * with `index`.
   */
  path: string
  /**
   * Markdown with the title as the first line. Links have the same targets as in the source file.
   */
  markdown: string
  /** Path of the source file; null for a page that is made from the code. */
  source: string | null
}

/** Returns the URL path of a page. */
export function makePageUrl(path: string): string {
  if (path === "index") return "/docs"
  return `/docs/${path.replace(/(^|\/)index$/, "$1")}`
}

/** Returns the title of a page, which is its first heading, as Markdown. */
export function readPageTitle({ path, markdown }: SitePage): string {
  const [, title] = /^# (.+)\n/.exec(markdown) ?? []
  if (title === undefined) throw new Error(`${path} does not begin with a heading`)
  return title
}

/** Returns a Markdown text as plain text on one line, without link targets and marks. */
export function convertMarkdownToText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim()
}

/** Returns the first sentence of a page, for lists of pages and for search engines. */
export function readPageSummary({ path, markdown }: SitePage): string {
  const [, ...blocks] = markdown.split(/\n\n+/)
  const first = blocks.find((block) => /^(?!```)[A-Z`[*]/.test(block))
  if (first === undefined) throw new Error(`${path} has no first paragraph`)
  const text = convertMarkdownToText(first)
  return /^.+?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, ".") ?? text
}
