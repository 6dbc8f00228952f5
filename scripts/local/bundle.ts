import { readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join, resolve } from "node:path"
import { build } from "esbuild"
import type { Plugin } from "esbuild"

/** The Worker as one ES module, as workerd runs it; its D1 refuses what Cloudflare's would. */
export async function bundleWorker(
  entryPath: string,
  define: Record<string, string>,
): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: limitedEntry(resolve(entryPath)), resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    sourcemap: "inline",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
    define,
    keepNames: true,
    logLevel: "warning",
    plugins: [nodeBuiltins, textModules],
  })
  const [file] = outputFiles
  if (!file) throw new Error("esbuild wrote no file")
  return file.text
}

function limitedEntry(entryPath: string): string {
  const entry = JSON.stringify(entryPath)
  const limits = JSON.stringify(join(import.meta.dirname, "d1-limits.ts"))
  return `import { env } from "cloudflare:workers"
import * as worker from ${entry}
import { limitWorker } from ${limits}
limitWorker(worker, env.DB)
export * from ${entry}
export { default } from ${entry}
`
}

/** Files that the dashboard sends as they are, which [[rules]] of wrangler.toml make texts, too. */
export const textModules: Plugin = {
  name: "text-modules",
  setup(builder) {
    builder.onLoad({ filter: /(?:\.css|\.client\.js)$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8"),
      loader: "text",
    }))
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
