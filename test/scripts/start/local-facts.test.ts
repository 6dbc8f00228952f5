import { mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterEach, beforeEach, expect, test } from "vitest"
import { findFactsPath, readStoredFacts } from "../../../scripts/start/ffmpeg-facts.ts"
import { readCapabilities } from "../../../src/kinds/command/facts/capabilities.ts"
import image from "../../../src/kinds/command/facts/image.json" with { type: "json" }

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-facts-"))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

test("facts of a program are valid until the program changes", async () => {
  const program = join(folder, "ffmpeg")
  const link = join(folder, "link")
  await writeFile(program, "one")
  await symlink(program, link)
  expect(readStoredFacts(program, folder)).toBe("none")
  const path = findFactsPath(program, folder) ?? ""
  await writeFile(path, "noted")
  expect([program, link].map((name) => readStoredFacts(name, folder))).toEqual(["noted", "noted"])
  await utimes(program, 1, 1)
  expect(readStoredFacts(program, folder)).toBe("none")
})

test("a missing program has no facts", () => {
  expect(findFactsPath(join(folder, "none"), folder)).toBeNull()
  expect(readStoredFacts(join(folder, "none"), folder)).toBe("none")
})

test("the Worker reads the notes that the set-up compressed", async () => {
  const facts = { ...image, filters: "only\tT V>V\tone:i:0:9", version: "of a test" }
  const known = await readCapabilities(gzipSync(JSON.stringify(facts)).toString("base64"))
  expect([...(known?.names("filters") ?? [])]).toEqual(["only"])
  expect(known?.find("filters", "only")?.options[0]).toMatchObject({ names: ["one"], type: "i" })
  expect(await readCapabilities("none")).toBeNull()
  expect((await readCapabilities("image"))?.names("filters").has("scale")).toBe(true)
})
