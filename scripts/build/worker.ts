import { readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join, resolve } from "node:path"
import { build } from "esbuild"
import type { Plugin } from "esbuild"
import { onlyFile } from "./programs.ts"
import type { Bundle } from "./programs.ts"
import { zodInEnglish } from "./zod-in-english.ts"

/**
 * The Worker as one ES module, as workerd runs it: its D1 refuses what Cloudflare's would, its
 * export `control` is for the start script, and `callers` for the socket of callers. Without a source map, which nothing would read there.
 * `counterPath` is a module whose `countWorker` sees it first.
 */
export async function bundleWorker(
  entryPath: string,
  define: Record<string, string>,
  counterPath: string | null = null,
): Promise<Bundle> {
  const counter = counterPath === null ? "" : countBy(counterPath)
  return await buildWorker(localEntry(resolve(entryPath)) + counter, define)
}

/** A module of the Worker, by its text, with all that it imports, as workerd runs it. */
export async function buildWorker(
  contents: string,
  define: Record<string, string>,
): Promise<Bundle> {
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
    plugins: [nodeBuiltins, textModules, zodInEnglish, ownClasses],
  })
  return onlyFile(built)
}

function localEntry(entryPath: string): string {
  const entry = JSON.stringify(entryPath)
  const [control, front, limits] = ["control.ts", "front/front.ts", "d1-limits.ts"].map((name) =>
    JSON.stringify(join(import.meta.dirname, "../local", name)),
  )
  return `import { env } from "cloudflare:workers"
import * as worker from ${entry}
import { makeControl, removeAbsentBindings } from ${control}
import { makeFront } from ${front}
import { limitWorker } from ${limits}
removeAbsentBindings(env)
limitWorker(worker, env.DB)
const { open, callers } = makeFront(worker.default)
export { callers }
export const control = makeControl(worker.default, open)
export * from ${entry}
export { default } from ${entry}
`
}

function countBy(path: string): string {
  return `import { countWorker } from ${JSON.stringify(resolve(path))}
countWorker(worker, env)
`
}

/** Files that the dashboard takes as texts, as [[rules]] of wrangler.toml say, too. */
export const textModules: Plugin = {
  name: "text-modules",
  setup(builder) {
    builder.onLoad({ filter: /(?:\.css|\.md|\.client\.js)$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8"),
      loader: "text",
    }))
  },
}

/** Looks for a class of the same name in another copy of the package, for each value that is none. */
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
 * Drizzle asks some hundred times for each statement of what class a value is. The bundle has one copy
 * of it, so that `instanceof`, which it tries first, says all.
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
 * workerd has Node's modules only by `import` and under their `node:` names; packages written in
 * CommonJS `require` them, so each such call gets a module that imports and re-exports.
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
