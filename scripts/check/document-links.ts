import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

const FENCE = /^```[^\n]*\n[\s\S]*?^```/gm
const CODE = /`[^`\n]*`/g
const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g
/** Pattern of the path of a document in a comment, message or configuration file. */
const MENTION = /(?<![\w./])docs\/[\w./-]+?\.md(?:#[\w-]+)?/g
/** Pattern of the path of a source file in a document. */
const SOURCE = /`((?:src|container|scripts|test|migrations)\/[\w./-]+\.\w+)`/g
/**
 * Documents whose source paths are not checked. Decision notes name files that existed when the
 * note was written. The guide to adding a kind of job names files of an example, which are in
 * test/fixtures.
 */
const NO_SOURCES = /^docs\/(?:decisions\/|develop\/adding-a-kind\.md$)/
/**
 * Files whose mentions of documents are not checked, because the mentioned documents belong to a
 * test or to npm packages.
 */
const NO_MENTIONS = /^(?:test\/scripts\/check\/documents\.test\.ts|package-lock\.json)$/

/**
 * Finds broken links and repeated headings in documents. Returns a sentence for each. Checks
 * relative links, anchors and source paths in every `*.md`, and paths `docs/….md` in every text
 * file that git tracks.
 */
export function findBrokenLinks(root: string): string[] {
  const files = listFiles(root)
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8")
    const isPage = file.endsWith(".md")
    const links = isPage ? linksOf(text).map((link) => resolveLink(file, link)) : []
    const sources = isPage && !NO_SOURCES.test(file) ? text.matchAll(SOURCE) : []
    const mentions = NO_MENTIONS.test(file) ? [] : [...text.matchAll(MENTION)].map(([path]) => path)
    const targets = new Set([...links, ...mentions, ...[...sources].map(([, path = ""]) => path)])
    const broken = [...targets].flatMap((target) => {
      const problem = problemOf(root, target)
      return problem === null ? [] : [`${file} refers to ${target}: ${problem}.`]
    })
    return isPage ? [...broken, ...findRepeatedHeadings(file, text)] : broken
  })
}

function findRepeatedHeadings(file: string, text: string): string[] {
  const headings = Array.from(text.replace(FENCE, "").matchAll(/^#{1,6} .+$/gm), ([line]) => line)
  const repeated = headings.filter((heading, index) => headings.indexOf(heading) < index)
  return [...new Set(repeated)].map((heading) => `${file} repeats the heading "${heading}".`)
}

function problemOf(root: string, target: string): string | null {
  const [path = "", anchor] = target.split("#")
  if (!existsSync(join(root, path))) return "the file does not exist"
  if (anchor === undefined) return null
  const anchors = anchorsOf(readFileSync(join(root, path), "utf8"))
  return anchors.has(anchor) ? null : "the page has no such heading"
}

/**
 * Returns the relative links of a Markdown text. Leaves out links in code, web addresses and
 * absolute paths.
 */
function linksOf(text: string): string[] {
  const prose = text.replace(FENCE, "").replace(CODE, "``")
  return [...prose.matchAll(LINK)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^(?:[a-z]+:|\/)/.test(target))
}

function resolveLink(file: string, link: string): string {
  return link.startsWith("#") ? `${file}${link}` : normalize(join(dirname(file), link))
}

/** Returns the anchors that GitHub generates for the headings of a Markdown text. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ""] of text.replace(FENCE, "").matchAll(/^#{1,6} +(.+)$/gm)) {
    const slug = makeHeadingAnchor(heading)
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

/**
 * Returns the anchor that GitHub generates for a heading, unless an earlier heading of the page has
 * the same text.
 */
export function makeHeadingAnchor(heading: string): string {
  const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
  return words.replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-")
}

/** Returns the text files of the project that git tracks or does not ignore. */
function listFiles(root: string): string[] {
  const words = ["ls-files", "--cached", "--others", "--exclude-standard"]
  const listed = execFileSync("git", words, { cwd: root, encoding: "utf8" })
  const named =
    /(?:^|\/)(?:Dockerfile|\.?[\w.-]+\.(?:md|ts|tsx|js|sh|toml|json|c|h|py|yml|txt))$|^\.ci\/|^scripts\/run$/
  return listed.split("\n").filter((file) => named.test(file) && existsSync(join(root, file)))
}
