import { existsSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "esbuild"
import type { BuildOptions, BuildResult, Plugin } from "esbuild"
import { zodInEnglish } from "./zod-in-english.ts"

/** A module with all that it imports, and the paths of the files that it was made of. */
export type Bundle = { contents: string; inputs: string[] }

/** A program of Node as one ES module. What it says of its own place is said of its source's. */
export async function bundleProgram(entryPath: string): Promise<Bundle> {
  return onlyFile(
    await build({
      ...forNode,
      entryPoints: [entryPath],
      minifyWhitespace: true,
      minifySyntax: true,
      // Packages written in CommonJS call it.
      banner: { js: REQUIRE },
      plugins: [ownPlaces, zodInEnglish],
    }),
  )
}

/** A module of workerd's own side as one ES module, which imports nothing of the platform. */
export async function bundleModule(entryPath: string): Promise<Bundle> {
  return onlyFile(
    await build({
      entryPoints: [entryPath],
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      target: "es2024",
      logLevel: "warning",
    }),
  )
}

/** Paths of the project's own files that a module and what it imports are made of. */
export async function listSources(entryPath: string): Promise<string[]> {
  const built = await build({ ...forNode, entryPoints: [entryPath], packages: "external" })
  return onlyFile(built).inputs
}

/** The one file that a build made. */
export function onlyFile(result: BuildResult): Bundle {
  const [file] = result.outputFiles ?? []
  if (!file || !result.metafile) throw new Error("esbuild wrote no file")
  const inputs = Object.keys(result.metafile.inputs).filter((path) => existsSync(path))
  return { contents: file.text, inputs }
}

const forNode = {
  bundle: true,
  write: false,
  metafile: true,
  platform: "node",
  format: "esm",
  target: "node24",
  legalComments: "none",
  logLevel: "warning",
} as const satisfies BuildOptions

const REQUIRE =
  'import { createRequire as lateRequire } from "node:module";' +
  "const require = lateRequire(import.meta.url);"

/** Files of the project find others beside them; none of those that are bundled is a main file. */
const ownPlaces: Plugin = {
  name: "own-places",
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8")
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
        .replaceAll("import.meta.main", "false"),
      loader: "ts",
    }))
  },
}
