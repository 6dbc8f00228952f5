import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { makeErrorPages } from "./error-pages.ts"
import { makePageUrl } from "./page.ts"
import type { SitePage } from "./page.ts"
import { makeReferencePages } from "./reference-pages.ts"
import type { DocumentedServiceData } from "./service-facts.ts"

/** Folders of docs whose pages are part of the site. Other folders are for developers of Lathe. */
const FOLDERS = ["guide", "cookbook", "coming-from", "operate"]

/** Returns all pages of the site: Markdown files of docs, and pages that are made from the code. */
export async function readPages(facts: DocumentedServiceData): Promise<SitePage[]> {
  const sources = ["docs/*.md", ...FOLDERS.map((folder) => `docs/${folder}/*.md`)]
  const written = sources.flatMap((pattern) => globSync(pattern)).map(readPage)
  return [...written, ...makeReferencePages(facts.openapi), ...(await makeErrorPages(facts))]
}

function readPage(source: string): SitePage {
  const path = source.replace(/^docs\//, "").replace(/\.md$/, "")
  return { path, markdown: readFileSync(source, "utf8"), source }
}

/**
 * Returns the URL on the site for a link in a page's Markdown. A link to a Markdown file becomes
 * the URL of the file's page. Returns null for a file that the site lacks, and throws if no file
 * exists.
 */
export function resolvePageLink({ path, source }: SitePage, link: string): string | null {
  if (/^(?:[a-z]+:|\/)/.test(link)) return link
  if (link.startsWith("#")) return link
  const [target = "", anchor] = link.split("#")
  const file = normalize(join(dirname(source ?? `docs/${path}.md`), target))
  if (!existsSync(file)) throw new Error(`${source ?? path} links to ${file}, which does not exist`)
  const address = addressOf(file)
  if (address === null) return null
  return anchor === undefined || file.startsWith("docs/errors/") ? address : `${address}#${anchor}`
}

function addressOf(file: string): string | null {
  const [, path = ""] = /^docs\/(.+?)(?:\.md)?$/.exec(file) ?? []
  if (path === "") return null
  const [folder = ""] = path.split("/")
  if (folder === "errors") return "/docs/errors/"
  if (!path.includes("/") || FOLDERS.includes(folder)) {
    return file.endsWith(".md") ? makePageUrl(path) : `/docs/${path}`
  }
  return null
}
