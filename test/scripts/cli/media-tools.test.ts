import { chmod, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { hasOwnFfmpeg, findMediaTools } from "../../../scripts/cli/media-tools.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

const SYSTEM = { ffmpeg: "ffmpeg", ffprobe: "ffprobe", fetchFfmpeg: "ffmpeg" }

/** A folder as the build leaves it, below one that everyone may enter. */
async function buildInto(folder: string): Promise<string> {
  const own = join(folder, "ffmpeg")
  await chmod(folder, 0o755)
  await mkdir(join(own, "bin"), { recursive: true })
  for (const name of ["ffmpeg", "ffprobe", "fetch-ffmpeg"]) {
    await writeFile(join(own, "bin", name), "", { mode: 0o755 })
  }
  await writeFile(join(own, "built.json"), "{}")
  return own
}

test("the system's ffmpeg is used if no other was built or named", () => {
  expect(findMediaTools({}, "/no/such/folder")).toEqual(SYSTEM)
})

test("the project's own ffmpeg is used if it was built", async () => {
  await using temporary = await makeTempFolder("tools")
  const own = await buildInto(temporary.path)
  expect(findMediaTools({}, own)).toEqual({
    ffmpeg: join(own, "bin/ffmpeg"),
    ffprobe: join(own, "bin/ffprobe"),
    fetchFfmpeg: join(own, "bin/fetch-ffmpeg"),
  })
})

test("a setting takes precedence, for each tool alone", async () => {
  await using temporary = await makeTempFolder("tools")
  const own = await buildInto(temporary.path)
  const named = { FFMPEG_PATH: "/opt/ffmpeg", FFPROBE_PATH: "" }
  expect(findMediaTools(named, own)).toEqual({
    ffmpeg: "/opt/ffmpeg",
    ffprobe: join(own, "bin/ffprobe"),
    fetchFfmpeg: join(own, "bin/fetch-ffmpeg"),
  })
  expect(findMediaTools(named, "/no/such/folder").fetchFfmpeg).toBe("/opt/ffmpeg")
})

test("an unfinished build is not used", async () => {
  await using temporary = await makeTempFolder("tools")
  expect(hasOwnFfmpeg(temporary.path)).toBe(false)
})

test.skipIf(process.getuid?.() !== 0)(
  "a build that the users of tools cannot reach is not used by root",
  async () => {
    await using temporary = await makeTempFolder("tools")
    const own = await buildInto(temporary.path)
    await chmod(temporary.path, 0o700)
    expect(findMediaTools({}, own)).toEqual(SYSTEM)
  },
)
