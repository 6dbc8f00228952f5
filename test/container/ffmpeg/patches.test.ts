import { existsSync } from "node:fs"
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { applyProjectPatches } from "../../../container/ffmpeg/debian-source.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

const FOLDER = join(import.meta.dirname, "../../../container/ffmpeg")
const LACK = existsSync("/usr/bin/patch") ? "" : ": patch is not here"

/**
 * Returns the files that patches change, each reduced to the lines of its patch, before or after
 * it.
 */
async function readSource(side: "-" | "+"): Promise<Map<string, string>> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".patch"))
  const texts = await Promise.all(names.map((name) => readFile(join(FOLDER, name), "utf8")))
  return new Map(
    texts.map((text) => {
      const [, path = "", hunk = ""] = /^\+\+\+ b\/(\S+)\n@@ .* @@.*\n([^]*)$/m.exec(text) ?? []
      const lines = hunk.split("\n").filter((line) => line.startsWith(" ") || line.startsWith(side))
      return [path, lines.map((line) => `${line.slice(1)}\n`).join("")]
    }),
  )
}

async function writeSource(folder: string, source: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of source) {
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

describe.skipIf(LACK !== "")(`the project's own patches${LACK}`, () => {
  test("are applied, and skipped if the source already has them", async () => {
    await using folder = await makeTempFolder("patches")
    await writeSource(folder.path, await readSource("-"))
    const patched = await readSource("+")
    expect(patched.size).toBeGreaterThan(0)
    for (let time = 0; time < 2; time += 1) {
      await applyProjectPatches(folder.path)
      for (const [path, text] of patched) {
        expect(await readFile(join(folder.path, path), "utf8")).toBe(text)
      }
    }
  })

  test("fail a build with a source that they do not fit", async () => {
    await using folder = await makeTempFolder("patches")
    const source = await readSource("-")
    await writeSource(folder.path, new Map([...source.keys()].map((path) => [path, "int a;\n"])))
    await expect(applyProjectPatches(folder.path)).rejects.toThrow("patch")
  })
})
