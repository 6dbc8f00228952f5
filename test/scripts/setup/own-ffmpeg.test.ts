import { existsSync } from "node:fs"
import { chmod, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, expect, test, vi } from "vitest"
import { findMissingPackages } from "../../../container/ffmpeg/debian-packages.ts"
import { hasOwnFfmpeg } from "../../../scripts/cli/media-tools.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { suggestOwnFfmpegBuild, ensureOwnFfmpeg } from "../../../scripts/setup/own-ffmpeg.ts"
import { FAKE_CONFIGURE_SCRIPT, makeFakeFfmpegSource } from "../../support/media/ffmpeg-source.ts"

const SYSTEM = { ffmpeg: "ffmpeg", ffprobe: "ffprobe", fetchFfmpeg: "ffmpeg" }
const LACK = existsSync("/usr/bin/apt-cache") ? "" : ": apt is not here"
const missing = LACK === "" ? await findMissingPackages() : []
const LACK_OF_BUILD = missing.length === 0 ? LACK : `: ${missing.join(", ")} is not installed`

afterEach(() => {
  vi.restoreAllMocks()
})

test.skipIf(LACK !== "")(
  `who uses the system's ffmpeg is told once of a faster one${LACK}`,
  async () => {
    await using folder = await makeTempFolder("advice")
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined)
    const marker = join(folder.path, "cache", "advised")
    await suggestOwnFfmpegBuild(SYSTEM, marker)
    await suggestOwnFfmpegBuild(SYSTEM, marker)
    expect(said.mock.calls).toEqual([[expect.stringContaining("npm run setup -- --ffmpeg")]])
  },
)

test("a start without write access to the clone prints no advice", async () => {
  await using folder = await makeTempFolder("advice")
  const said = vi.spyOn(console, "log").mockImplementation(() => undefined)
  const file = join(folder.path, "no-folder")
  await writeFile(file, "")
  await suggestOwnFfmpegBuild(SYSTEM, join(file, "advised"))
  expect(said).not.toHaveBeenCalled()
})

test("a start with another ffmpeg prints no advice", async () => {
  await using folder = await makeTempFolder("advice")
  const said = vi.spyOn(console, "log").mockImplementation(() => undefined)
  await suggestOwnFfmpegBuild({ ...SYSTEM, ffmpeg: "/opt/ffmpeg" }, join(folder.path, "advised"))
  expect(said).not.toHaveBeenCalled()
})

test.skipIf(LACK_OF_BUILD !== "")(
  `a build serves every clone of a machine${LACK_OF_BUILD}`,
  async () => {
    await using folder = await makeTempFolder("own-ffmpeg")
    await chmod(folder.path, 0o755)
    vi.spyOn(console, "error").mockImplementation(() => undefined)
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined)
    const source = makeFakeFfmpegSource(FAKE_CONFIGURE_SCRIPT)
    const unpacked = vi.spyOn(source, "unpackInto")
    const cache = join(folder.path, "cache")
    const places = { cache, openSource: () => Promise.resolve(source) }
    for (const name of ["one", "another", "another"]) {
      await ensureOwnFfmpeg({ ...places, folder: join(folder.path, name) })
    }
    expect(unpacked).toHaveBeenCalledTimes(1)
    const clones = ["one", "another"].map((name) => join(folder.path, name))
    expect(clones.map((clone) => hasOwnFfmpeg(clone))).toEqual([true, true])
    const [one, another] = clones.map((clone) => join(clone, "bin/ffmpeg"))
    expect(await readFile(another ?? "")).toEqual(await readFile(one ?? ""))
    expect(said).toHaveBeenLastCalledWith(`ffmpeg ${source.version} is already built.`)
  },
)
