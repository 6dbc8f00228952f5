import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, extname, join } from "node:path"
import { build } from "esbuild"

const THEME = "scripts/site/theme"

/** URL paths of the style sheet, the scripts and the icon that pages load, by name. */
export type SiteAssets = Record<
  "favicon" | "style" | "theme" | "page" | "search" | "viewerStart",
  string
>

/** Bundles the style sheet and the scripts of the site into a folder. */
export async function buildSiteAssets(folder: string): Promise<SiteAssets> {
  const [style, theme, page, search, viewerStart] = await Promise.all(
    ["site.css", "theme.client.js", "page.client.js", "search.client.js", "viewer.client.js"].map(
      async (name) => {
        const isModule = name !== "theme.client.js"
        const { outputFiles } = await build({
          entryPoints: [join(THEME, name)],
          bundle: true,
          write: false,
          minify: true,
          format: isModule ? "esm" : "iife",
          target: ["es2022", "chrome123", "firefox120", "safari17.5"],
          legalComments: "none",
          logLevel: "warning",
        })
        return writeHashedAsset(folder, name, outputFiles[0]?.contents ?? new Uint8Array())
      },
    ),
  )
  const favicon = writeHashedAsset(folder, "favicon.svg", readFileSync(join(THEME, "favicon.svg")))
  if (!style || !theme || !page || !search || !viewerStart) throw new Error("an asset is missing")
  return { favicon, style, theme, page, search, viewerStart }
}

/**
 * Writes a file under a name with the hash of its content, so that browsers may cache the file
 * forever. Returns the URL path of the file.
 */
export function writeHashedAsset(
  folder: string,
  name: string,
  content: Uint8Array | string,
): string {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 10)
  const extension = extname(name)
  const file = `${basename(name, extension)}.${hash}${extension}`
  mkdirSync(join(folder, "docs/assets"), { recursive: true })
  writeFileSync(join(folder, "docs/assets", file), content)
  return `/docs/assets/${file}`
}
