import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

const FENCE = /^```[^\n]*\n[\s\S]*?^```/gm
const CODE = /`[^`\n]*`/g
const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g
/** A page of the documents as comments, messages and configuration name it. */
const MENTION = /(?<![\w./])docs\/[\w./-]+?\.md(?:#[\w-]+)?/g
/** Pages in the examples of tests name nothing of the project. */
const NO_MENTIONS = /^(?:test\/scripts\/documents\.test\.ts|package-lock\.json)$/

/**
 * Links and mentions of documents that lead nowhere, a sentence each: relative links and anchors of
 * every `*.md`, and `docs/….md` in any text file that git tracks.
 */
export function findBrokenLinks(root: string): string[] {
  const files = listFiles(root)
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8")
    const links = file.endsWith(".md") ? linksOf(text).map((link) => resolveLink(file, link)) : []
    const mentions = NO_MENTIONS.test(file) ? [] : [...text.matchAll(MENTION)].map(([path]) => path)
    const targets = new Set([...links, ...mentions])
    return [...targets].flatMap((target) => {
      const problem = problemOf(root, target)
      return problem === null ? [] : [`${file} refers to ${target}: ${problem}.`]
    })
  })
}

function problemOf(root: string, target: string): string | null {
  const [path = "", anchor] = target.split("#")
  if (!existsSync(join(root, path))) return "the file does not exist"
  if (anchor === undefined) return null
  const anchors = anchorsOf(readFileSync(join(root, path), "utf8"))
  return anchors.has(anchor) ? null : "the page has no such heading"
}

/** Relative links of a Markdown text; code, addresses of the web and paths of a service aside. */
function linksOf(text: string): string[] {
  const prose = text.replace(FENCE, "").replace(CODE, "``")
  return [...prose.matchAll(LINK)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^(?:[a-z]+:|\/)/.test(target))
}

function resolveLink(file: string, link: string): string {
  return link.startsWith("#") ? `${file}${link}` : normalize(join(dirname(file), link))
}

/** Anchors that GitHub makes of the headings of a Markdown text. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ""] of text.replace(FENCE, "").matchAll(/^#{1,6} +(.+)$/gm)) {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
    const slug = words.replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-")
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

/** Text files of the project that git knows or would add. */
function listFiles(root: string): string[] {
  const words = ["ls-files", "--cached", "--others", "--exclude-standard"]
  const listed = execFileSync("git", words, { cwd: root, encoding: "utf8" })
  const named =
    /(?:^|\/)(?:Dockerfile|\.?[\w.-]+\.(?:md|ts|tsx|js|sh|toml|json|c|h|py|yml|txt))$|^\.ci\/|^scripts\/run$/
  return listed.split("\n").filter((file) => named.test(file) && existsSync(join(root, file)))
}
