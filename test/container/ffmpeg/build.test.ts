import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { buildFfmpeg, hashBuildDefinition } from "../../../container/ffmpeg/build.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { FAKE_CONFIGURE_SCRIPT, makeFakeFfmpegSource } from "../../support/media/ffmpeg-source.ts"

const PROGRAMS = ["ffmpeg", "ffprobe", "fetch-ffmpeg"]
const NEEDED = ["/usr/bin/apt-cache", "/usr/bin/gcc", "/usr/bin/make"]
const missing = NEEDED.filter((path) => !existsSync(path))
const LACK = missing.length === 0 ? "" : `: ${missing.join(", ")} is not here`

test.skipIf(LACK !== "")(
  `a build leaves its programs and a record of its sources${LACK}`,
  async () => {
    await using folder = await makeTempFolder("build")
    const built = await buildFfmpeg(makeFakeFfmpegSource(FAKE_CONFIGURE_SCRIPT), folder.path)
    expect(built).toMatchObject({ version: "7:7.1.5-0+deb13u1", hash: await hashBuildDefinition() })
    expect(built.libraries).toContain("libx264")
    expect(JSON.parse(await readFile(join(folder.path, "built.json"), "utf8"))).toEqual(built)
    expect(await readFile(join(folder.path, "packages"), "utf8")).toBe("libc6\n")
    const said = await Promise.all(
      PROGRAMS.map(async (name) => {
        return (await promisify(execFile)(join(folder.path, "bin", name))).stdout
      }),
    )
    expect(said.map((words) => words.includes("--disable-network"))).toEqual([true, true, false])
    expect(said.map((words) => words.match(/ff_\w+/g))).toEqual([
      expect.arrayContaining(["ff_a_encoder", "ff_liba_decoder", "ff_a_muxer", "ff_a_filter"]),
      ["ff_a_decoder", "ff_libdav1d_decoder"],
      expect.arrayContaining(["ff_a_encoder", "ff_liba_decoder", "ff_a_muxer", "ff_a_filter"]),
    ])
  },
)

test.skipIf(LACK !== "")(`a failed build reports its last output${LACK}`, async () => {
  await using folder = await makeTempFolder("build")
  const failing = makeFakeFfmpegSource("#!/bin/sh\necho 'ERROR: libx264 not found'\nexit 1\n")
  await expect(buildFfmpeg(failing, folder.path)).rejects.toThrow(
    "configure of ffmpeg ended with 1:\nERROR: libx264 not found",
  )
  expect(existsSync(join(folder.path, "built.json"))).toBe(false)
})

test.skipIf(LACK !== "")(`a source with an unknown list format is refused${LACK}`, async () => {
  await using folder = await makeTempFolder("build")
  const other = FAKE_CONFIGURE_SCRIPT.replace("    &ff_a_muxer,", "ff_a_muxer,")
  await expect(buildFfmpeg(makeFakeFfmpegSource(other), folder.path)).rejects.toThrow(
    "libavformat/muxer_list.c of ffmpeg has no name that matches /./: has its form changed?",
  )
  expect(existsSync(join(folder.path, "built.json"))).toBe(false)
})
