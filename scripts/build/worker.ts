import { readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join, resolve } from "node:path"
import { build } from "esbuild"
import type { Plugin } from "esbuild"
import { readSingleEsbuildOutput } from "./programs.ts"
import type { ModuleBundle } from "./programs.ts"
import { zodEnglishOnlyPlugin } from "./zod-in-english.ts"

/**
 * Bundles the Worker as one ES module for workerd, with the limits of Cloudflare's D1. The module
 * also exports the entrypoints `control`, which the start script calls, and `callers`, which gets
 * requests of API clients. `counterPath` is the path of a benchmark's module that counts the
 * Worker's operations.
 */
export async function bundleWorker(
  entryPath: string,
  define: Record<string, string>,
  counterPath: string | null = null,
): Promise<ModuleBundle> {
  const counter = counterPath === null ? "" : countBy(counterPath)
  return await bundleWorkerSource(localEntry(resolve(entryPath)) + counter, define)
}

/** Bundles the source text of a Worker's module with all its imports for workerd. */
export async function bundleWorkerSource(
  contents: string,
  define: Record<string, string>,
): Promise<ModuleBundle> {
  const built = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
    define,
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    logLevel: "warning",
    plugins: [nodeBuiltins, textModulesPlugin, zodEnglishOnlyPlugin, ownClasses],
  })
  return readSingleEsbuildOutput(built)
}

function localEntry(entryPath: string): string {
  const entry = JSON.stringify(entryPath)
  const [control, front, limits] = ["control.ts", "../front/front.ts", "d1-limits.ts"].map((name) =>
    JSON.stringify(join(import.meta.dirname, "../start/worker", name)),
  )
  return `import { env } from "cloudflare:workers"
import * as worker from ${entry}
import { makeMigrateAndSweepEntrypoint, removeNullBindings } from ${control}
import { makeCallersEntrypoint } from ${front}
import { applyD1Limits } from ${limits}
removeNullBindings(env)
applyD1Limits(worker, env.DB)
const { open, callers } = makeCallersEntrypoint(worker.default)
export { callers }
export const control = makeMigrateAndSweepEntrypoint(worker.default, open)
export * from ${entry}
export { default } from ${entry}
`
}

function countBy(path: string): string {
  return `import { countWorkerOperations } from ${JSON.stringify(resolve(path))}
countWorkerOperations(worker, env)
`
}

/**
 * Plugin of esbuild that imports some files as text, as the `[[rules]]` of wrangler.toml do on
 * Cloudflare.
 */
export const textModulesPlugin: Plugin = {
  name: "text-modules",
  setup(builder) {
    builder.onLoad({ filter: /(?:\.css|\.client\.js|[\\/]tus\.min\.js)$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8"),
      loader: "text",
    }))
  },
}

/**
 * Source text in Drizzle that checks a value's class by its name, for values that another copy of
 * Drizzle made.
 */
const OTHER_COPIES = `  let cls = Object.getPrototypeOf(value).constructor;
  if (cls) {
    while (cls) {
      if (entityKind in cls && cls[entityKind] === type[entityKind]) {
        return true;
      }
      cls = Object.getPrototypeOf(cls);
    }
  }
`

/**
 * Plugin of esbuild that removes the slow class check of Drizzle (`OTHER_COPIES`), which each
 * statement runs some hundred times. The check finds objects of another copy of Drizzle. The bundle
 * has a single copy, so that the `instanceof` before the check suffices.
 */
const ownClasses: Plugin = {
  name: "own-classes",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]drizzle-orm[\\/]entity\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8")
      const contents = text.replace(OTHER_COPIES, "")
      if (contents === text) throw new Error(`${path} is not the one that scripts/build knows`)
      return { contents, loader: "js" }
    })
  },
}

/**
 * Plugin of esbuild that replaces each `require` of a Node.js module by a module with an import,
 * because workerd offers Node.js modules only by `import` and under `node:` names.
 */
const nodeBuiltins: Plugin = {
  name: "node-builtins",
  setup(builder) {
    builder.onResolve({ filter: /^[a-z:/_0-9]+$/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return null
      const prefixed = path.startsWith("node:") ? path : `node:${path}`
      if (kind === "require-call") return { path: prefixed, namespace: "required-builtin" }
      return { path: prefixed, external: true }
    })
    builder.onLoad({ filter: /.*/, namespace: "required-builtin" }, ({ path }) => ({
      contents: `import builtin from "${path}"; module.exports = builtin`,
      loader: "js",
    }))
  },
}
