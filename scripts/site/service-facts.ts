import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "esbuild"
import type { Plugin } from "esbuild"
import { z } from "zod"
import { readSingleEsbuildOutput } from "../build/programs.ts"

const ENTRY = "src/api/output/site-facts.ts"

const answer = z.object({ status: z.int(), title: z.string() })

/** Schema of the data in the service's code that pages show. */
const facts = z.object({
  openapi: z.looseObject({}),
  answers: z.record(z.string(), answer),
  failures: z.array(z.string()),
  details: z.array(z.string()),
})

type Example = {
  message: string
  field?: string | undefined
  option?: string | undefined
  retryAfterSeconds?: number | undefined
}

type MakeExample = (code: string, example: Example) => Promise<unknown>

export type DocumentedServiceData = z.infer<typeof facts> & {
  makeExampleErrorBody: MakeExample
  makeExampleFaultBody: MakeExample
  makeExampleFailedJob: MakeExample
  /** Paths of the source files that contain the data. */
  inputs: string[]
}

const maker = z.custom<MakeExample>((value) => typeof value === "function")

const exported = z.object({
  documentationSiteData: facts,
  makeExampleErrorBody: maker,
  makeExampleFaultBody: maker,
  makeExampleFailedJob: maker,
})

/**
 * Reads the values of the service's code that pages of the site show as tables, such as error codes
 * and limits. Bundles the module that exports them for Node.js in `folder`, and imports the bundle.
 */
export async function readDocumentedServiceData(folder: string): Promise<DocumentedServiceData> {
  const { contents, inputs } = readSingleEsbuildOutput(
    await build({
      entryPoints: [ENTRY],
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      platform: "node",
      target: "node24",
      mainFields: ["module", "main"],
      conditions: ["workerd", "worker"],
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
      logLevel: "warning",
      plugins: [emptyRuntime],
    }),
  )
  const path = join(folder, "service-facts.mjs")
  writeFileSync(path, contents)
  const module: unknown = await import(pathToFileURL(path).href)
  rmSync(path)
  const { documentationSiteData, ...makers } = exported.parse(module)
  return { ...documentationSiteData, ...makers, inputs }
}

/**
 * Plugin of esbuild that replaces the modules of Cloudflare's runtime, which the data does not
 * need.
 */
const emptyRuntime: Plugin = {
  name: "empty-runtime",
  setup(builder) {
    builder.onResolve({ filter: /^cloudflare:/ }, ({ path }) => ({ path, namespace: "runtime" }))
    builder.onLoad({ filter: /.*/, namespace: "runtime" }, () => ({
      contents: "module.exports = new Proxy({}, { get: () => class {} })",
      loader: "js",
    }))
  },
}
