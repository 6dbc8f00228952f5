import { mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterEach, beforeEach, expect, test } from "vitest"
import { factsPath, readNotedFacts } from "../../scripts/local/ffmpeg-facts.ts"
import { knownFfmpeg } from "../../src/kinds/command/facts/known.ts"
import image from "../../src/kinds/command/facts/image.json" with { type: "json" }

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-facts-"))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

test("what is noted of a program is found by it, until it is another one", async () => {
  const program = join(folder, "ffmpeg")
  const link = join(folder, "link")
  await writeFile(program, "one")
  await symlink(program, link)
  expect(readNotedFacts(program, folder)).toBe("none")
  const path = factsPath(program, folder) ?? ""
  await writeFile(path, "noted")
  expect([program, link].map((name) => readNotedFacts(name, folder))).toEqual(["noted", "noted"])
  await utimes(program, 1, 1)
  expect(readNotedFacts(program, folder)).toBe("none")
})

test("a program that is not there has no notes", () => {
  expect(factsPath(join(folder, "none"), folder)).toBeNull()
  expect(readNotedFacts(join(folder, "none"), folder)).toBe("none")
})

test("the Worker reads notes as the set-up compresses them", async () => {
  const facts = { ...image, filters: "only\tT V>V\tone:i:0:9", version: "of a test" }
  const known = await knownFfmpeg(gzipSync(JSON.stringify(facts)).toString("base64"))
  expect([...(known?.names("filters") ?? [])]).toEqual(["only"])
  expect(known?.find("filters", "only")?.options[0]).toMatchObject({ names: ["one"], type: "i" })
  expect(await knownFfmpeg("none")).toBeNull()
  expect((await knownFfmpeg("image"))?.names("filters").has("scale")).toBe(true)
})
