import { existsSync } from "node:fs"
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { applyOwnPatches } from "../../../container/ffmpeg/debian-source.ts"
import { makeTempFolder } from "../../../scripts/local/temp-folder.ts"

const FOLDER = join(import.meta.dirname, "../../../container/ffmpeg")
const LACK = existsSync("/usr/bin/patch") ? "" : ": patch is not here"

/** The files that patches change, each with the lines of its patch alone, before or after it. */
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

describe.skipIf(LACK !== "")(`patches of the project's own${LACK}`, () => {
  test("are applied, and passed over where a source has them", async () => {
    await using folder = await makeTempFolder("patches")
    await writeSource(folder.path, await readSource("-"))
    const patched = await readSource("+")
    expect(patched.size).toBeGreaterThan(0)
    for (let time = 0; time < 2; time += 1) {
      await applyOwnPatches(folder.path)
      for (const [path, text] of patched) {
        expect(await readFile(join(folder.path, path), "utf8")).toBe(text)
      }
    }
  })

  test("end a build whose source is another", async () => {
    await using folder = await makeTempFolder("patches")
    const source = await readSource("-")
    await writeSource(folder.path, new Map([...source.keys()].map((path) => [path, "int a;\n"])))
    await expect(applyOwnPatches(folder.path)).rejects.toThrow("patch")
  })
})
