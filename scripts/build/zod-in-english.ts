import { dirname } from "node:path"
import { build } from "esbuild"
import type { Plugin } from "esbuild"

// Half of Zod's source is messages in other languages, which this project does not use. Without
// them, programs start faster and use less memory.

/** Plugin of esbuild that removes Zod's languages except English from a bundle. */
export const zodEnglishOnlyPlugin: Plugin = {
  name: "zod-in-english",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path }) => ({
      contents: 'export { default as en } from "./en.js"',
      resolveDir: dirname(path),
    }))
  },
}

/** Exports of Zod's languages in the bundled module of Miniflare. */
const LANGUAGES = /(__export\(locales_exports, \{)[^}]*(\}\);)/

/**
 * Removes Zod's languages except English from a module into which Zod is already bundled, and
 * minifies the module.
 */
export async function removeZodLanguages(bundled: string): Promise<string> {
  if (!LANGUAGES.test(bundled)) throw new Error("this is not Zod as Miniflare bundles it")
  const built = await build({
    stdin: { contents: bundled.replace(LANGUAGES, "$1 en: () => en_default $2") },
    bundle: true,
    external: ["*"],
    write: false,
    format: "esm",
    target: "esnext",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
  })
  const [file] = built.outputFiles
  if (!file) throw new Error("esbuild wrote no file")
  return file.text
}
