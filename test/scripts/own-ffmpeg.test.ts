import { existsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, expect, test, vi } from "vitest"
import { makeTempFolder } from "../../scripts/local/temp-folder.ts"
import { adviseOwnFfmpeg } from "../../scripts/setup/own-ffmpeg.ts"

const SYSTEM = { ffmpeg: "ffmpeg", ffprobe: "ffprobe", fetchFfmpeg: "ffmpeg" }
const LACK = existsSync("/usr/bin/apt-cache") ? "" : ": apt is not here"

afterEach(() => {
  vi.restoreAllMocks()
})

test.skipIf(LACK !== "")(
  `who uses the system's ffmpeg is told once of a faster one${LACK}`,
  async () => {
    await using folder = await makeTempFolder("advice")
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined)
    const marker = join(folder.path, "cache", "advised")
    await adviseOwnFfmpeg(SYSTEM, marker)
    await adviseOwnFfmpeg(SYSTEM, marker)
    expect(said.mock.calls).toEqual([[expect.stringContaining("npm run setup -- --ffmpeg")]])
  },
)

test("who may not write to the clone is told nothing, and starts", async () => {
  await using folder = await makeTempFolder("advice")
  const said = vi.spyOn(console, "log").mockImplementation(() => undefined)
  const file = join(folder.path, "no-folder")
  await writeFile(file, "")
  await adviseOwnFfmpeg(SYSTEM, join(file, "advised"))
  expect(said).not.toHaveBeenCalled()
})

test("who uses another is told nothing", async () => {
  await using folder = await makeTempFolder("advice")
  const said = vi.spyOn(console, "log").mockImplementation(() => undefined)
  await adviseOwnFfmpeg({ ...SYSTEM, ffmpeg: "/opt/ffmpeg" }, join(folder.path, "advised"))
  expect(said).not.toHaveBeenCalled()
})
