import MarkdownIt from "markdown-it"
import Prism from "prismjs"
import loadLanguages from "prismjs/components/index.js"
import { makeHeadingAnchor } from "../check/document-links.ts"
import { convertMarkdownToText } from "./page.ts"

/** Heading of a page below the title: its level in HTML, plain text, and anchor. */
export type PageHeading = { level: number; text: string; anchor: string }

/**
 * Heading and the text below it, for the search; `heading` is null for the text before all
 * headings.
 */
type PageSection = { heading: PageHeading | null; text: string }

export type RenderedPage = { html: string; sections: PageSection[] }

/**
 * Function from a link in Markdown to the target's URL on the site, or null without such a target.
 */
export type LinkResolver = (link: string) => string | null

const markdown = new MarkdownIt({ html: false })
type Token = ReturnType<typeof markdown.parse>[number]

/**
 * Renders the Markdown of a page as HTML, without the title. Replaces link targets by `resolve`.
 */
export function renderPage(text: string, resolve: LinkResolver): RenderedPage {
  const tokens = markdown.parse(text.replace(/^# .+\n/, ""), {})
  const anchors = new Set<string>()
  const sections: PageSection[] = [{ heading: null, text: "" }]
  for (const [at, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const heading = makeHeading(token, tokens[at + 1]?.content ?? "", anchors)
      sections.push({ heading, text: "" })
    }
    if (token.type === "inline") {
      resolveLinks(token.children ?? [], resolve)
      const section = sections.at(-1)
      if (section && tokens[at - 1]?.type !== "heading_open") section.text += `${token.content}\n`
    }
    if (token.type === "fence") {
      const section = sections.at(-1)
      if (section) section.text += `${token.content}\n`
    }
  }
  const html = markdown.renderer.render(tokens, markdown.options, {})
  return { html, sections }
}

/** Renders a line of Markdown, such as a title, as HTML without a paragraph. */
export function renderInlineMarkdown(text: string): string {
  return markdown.renderInline(text)
}

function makeHeading(token: Token, content: string, anchors: Set<string>): PageHeading {
  const slug = makeHeadingAnchor(content)
  let anchor = slug
  for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`
  anchors.add(anchor)
  token.attrSet("id", anchor)
  return { level: Number(token.tag.slice(1)), text: convertMarkdownToText(content), anchor }
}

/**
 * Replaces the target of each link and image by `resolve`. Removes a link without a target, and
 * keeps the link's text.
 */
function resolveLinks(tokens: Token[], resolve: LinkResolver): void {
  let isRemoved = false
  for (const token of tokens) {
    if (token.type === "link_open") {
      const target = resolve(String(token.attrGet("href")))
      isRemoved = target === null
      if (target !== null) token.attrSet("href", target)
    }
    if (token.type === "image") {
      token.attrSet("src", resolve(String(token.attrGet("src"))) ?? "")
      token.attrSet("loading", "lazy")
    }
    if (isRemoved && (token.type === "link_open" || token.type === "link_close")) {
      if (token.type === "link_close") isRemoved = false
      token.type = "text"
      token.tag = ""
      token.nesting = 0
      token.content = ""
    }
  }
}

/** Prism's languages, by the language names of code blocks. Other blocks are not highlighted. */
const LANGUAGES: Record<string, string> = {
  bash: "bash",
  go: "go",
  java: "java",
  js: "javascript",
  json: "json",
  php: "php",
  python: "python",
  ruby: "ruby",
  sh: "bash",
  ts: "typescript",
}
loadLanguages([...new Set(Object.values(LANGUAGES)), "markup-templating"])

function highlight(code: string, name: string): string {
  const language = LANGUAGES[name] ?? ""
  const grammar = Prism.languages[language]
  return grammar === undefined ? "" : Prism.highlight(code, grammar, language)
}

const { rules } = markdown.renderer

rules.fence = (tokens, at) => {
  const { content, info } = tokens[at] ?? { content: "", info: "" }
  const [name = ""] = info.trim().split(/\s/)
  const body = highlight(content, name) || markdown.utils.escapeHtml(content)
  const language = name === "" ? "" : ` data-language="${markdown.utils.escapeHtml(name)}"`
  return `<div class="code"${language}><pre tabindex="0"><code>${body}</code></pre></div>\n`
}
// Wraps a table in an element that scrolls if the table is wider than the page.
rules["table_open"] = () => '<div class="table" tabindex="0"><table>\n'
rules["table_close"] = () => "</table></div>\n"
rules["heading_close"] = (tokens, at) => {
  const { tag } = tokens[at] ?? { tag: "h2" }
  const opened = tokens.slice(0, at).findLast(({ type }) => type === "heading_open")
  const anchor = opened?.attrGet("id") ?? ""
  const name = markdown.utils.escapeHtml(convertMarkdownToText(tokens[at - 1]?.content ?? ""))
  return ` <a class="anchor" href="#${anchor}" aria-label="Link to “${name}”">#</a></${tag}>\n`
}
