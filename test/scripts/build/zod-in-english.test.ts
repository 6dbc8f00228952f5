import { readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { z } from "zod"
import { bundleProgram } from "../../../scripts/build/programs.ts"
import { removeZodLanguages } from "../../../scripts/build/zod-in-english.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import type { settingsSchema } from "../../../src/bindings/settings.ts"

const GERMAN = "erwartet"
const MODULE = "workers/shared/zod.worker.js"

const program = z.object({ settingsSchema: z.custom<typeof settingsSchema>() })

test("bundles have the messages of Zod in English only", async () => {
  const { contents } = await bundleProgram("src/bindings/settings.ts")
  expect(contents).not.toContain(GERMAN)
  const { settingsSchema: bundled } = program.parse(await load(contents))
  const { error } = bundled.safeParse({ LATHE_SECRET: 1 })
  expect(error?.issues[0]?.message).toBe("Invalid input: expected string, received number")
})

test("the pinned Miniflare's Zod keeps its exports, in English only", async () => {
  const text = readFileSync(
    join(dirname(createRequire(import.meta.url).resolve("miniflare")), MODULE),
    "utf8",
  )
  const shrunk = await removeZodLanguages(text)
  expect(text).toContain(GERMAN)
  expect(shrunk).not.toContain(GERMAN)
  expect(Object.keys(await load(shrunk))).toEqual(Object.keys(await load(text)))
})

test("a module other than Zod is refused", async () => {
  await expect(removeZodLanguages("export const z = 1")).rejects.toThrow(
    "not Zod as Miniflare bundles it",
  )
})

/** Imports a module whose Buffer is workerd's as Node's. */
async function load(text: string): Promise<object> {
  await using folder = await makeTempFolder("zod")
  const path = join(folder.path, "module.mjs")
  await writeFile(path, text.replaceAll("node-internal:internal_buffer", "node:buffer"))
  return z.looseObject({}).parse(await import(pathToFileURL(path).href))
}
