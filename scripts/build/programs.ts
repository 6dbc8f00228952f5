import { existsSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "esbuild"
import type { BuildOptions, BuildResult, Plugin } from "esbuild"
import { zodEnglishOnlyPlugin } from "./zod-in-english.ts"

/** Bundled module, and the paths of the source files in it. */
export type ModuleBundle = { contents: string; inputs: string[] }

/**
 * Bundles a Node.js program as one ES module. `import.meta` in the module still refers to the
 * source files.
 */
export async function bundleProgram(entryPath: string): Promise<ModuleBundle> {
  return readSingleEsbuildOutput(
    await build({
      ...forNode,
      entryPoints: [entryPath],
      minifyWhitespace: true,
      minifySyntax: true,
      // Defines `require`, which packages written in CommonJS call.
      banner: { js: REQUIRE },
      plugins: [ownPlaces, zodEnglishOnlyPlugin],
    }),
  )
}

/**
 * Bundles a module that runs in workerd outside the Worker as one ES module. The module must not
 * import modules that only the runtime provides, such as `cloudflare:workers`.
 */
export async function bundleModule(entryPath: string): Promise<ModuleBundle> {
  return readSingleEsbuildOutput(
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

/** Returns the paths of the project's files that a module imports, directly or not. */
export async function listImportedSourceFiles(entryPath: string): Promise<string[]> {
  const built = await build({ ...forNode, entryPoints: [entryPath], packages: "external" })
  return readSingleEsbuildOutput(built).inputs
}

/** Returns the only output file of a build. */
export function readSingleEsbuildOutput(result: BuildResult): ModuleBundle {
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

/**
 * Plugin of esbuild that replaces `import.meta` by the path of each source file, because source
 * files find files of the project by relative paths. `import.meta.main` becomes false in all files.
 */
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
