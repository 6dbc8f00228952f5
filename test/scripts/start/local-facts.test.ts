import { mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterEach, beforeEach, expect, test } from "vitest"
import {
  findFfmpegCapabilitiesPath,
  readStoredFfmpegCapabilities,
} from "../../../scripts/start/ffmpeg-facts.ts"
import { loadCapabilitiesFromSetting } from "../../../src/kinds/command/facts/capabilities.ts"
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
  expect(readStoredFfmpegCapabilities(program, folder)).toBe("none")
  const path = findFfmpegCapabilitiesPath(program, folder) ?? ""
  await writeFile(path, "noted")
  expect([program, link].map((name) => readStoredFfmpegCapabilities(name, folder))).toEqual([
    "noted",
    "noted",
  ])
  await utimes(program, 1, 1)
  expect(readStoredFfmpegCapabilities(program, folder)).toBe("none")
})

test("a missing program has no facts", () => {
  expect(findFfmpegCapabilitiesPath(join(folder, "none"), folder)).toBeNull()
  expect(readStoredFfmpegCapabilities(join(folder, "none"), folder)).toBe("none")
})

test("the Worker reads the notes that the set-up compressed", async () => {
  const facts = { ...image, filters: "only\tT V>V\tone:i:0:9", version: "of a test" }
  const known = await loadCapabilitiesFromSetting(
    gzipSync(JSON.stringify(facts)).toString("base64"),
  )
  expect([...(known?.names("filters") ?? [])]).toEqual(["only"])
  expect(known?.find("filters", "only")?.options[0]).toMatchObject({ names: ["one"], type: "i" })
  expect(await loadCapabilitiesFromSetting("none")).toBeNull()
  expect((await loadCapabilitiesFromSetting("image"))?.names("filters").has("scale")).toBe(true)
})
