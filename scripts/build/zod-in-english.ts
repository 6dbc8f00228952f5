import { dirname } from "node:path"
import { build } from "esbuild"
import type { Plugin } from "esbuild"

// Half of Zod's text is its messages in other languages, which nothing here asks for: each program
// and each isolate would parse it at its start and keep it.

/** Leaves those languages out of a bundle. */
export const zodInEnglish: Plugin = {
  name: "zod-in-english",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path }) => ({
      contents: 'export { default as en } from "./en.js"',
      resolveDir: dirname(path),
    }))
  },
}

/** What a module that Zod is bundled in exports of its languages. */
const LANGUAGES = /(__export\(locales_exports, \{)[^}]*(\}\);)/

/** The same of a module that Zod is bundled in already, with its exports; as short as it can be. */
export async function shrinkZod(bundled: string): Promise<string> {
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
