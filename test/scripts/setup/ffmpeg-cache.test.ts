import { existsSync } from "node:fs"
import {
  appendFile,
  chmod,
  mkdir,
  readFile,
  readdir,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { CliError } from "../../../scripts/cli/cli-error.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { findUserCacheFolder } from "../../../scripts/cli/user-cache.ts"
import {
  addFfmpegBuildToCache,
  findCachedFfmpegBuild,
  installFfmpegBuild,
} from "../../../scripts/setup/ffmpeg-cache.ts"

const LACK = existsSync("/usr/bin/dpkg") ? "" : ": dpkg, which compares versions, is not here"
const OLDER = "7:7.1.5-0+deb13u1"
const NEWER = "7:7.1.10-0+deb13u1"

/** Writes what a build leaves; its programs say their version. */
function buildOf(version: string) {
  return async (folder: string) => {
    await mkdir(join(folder, "bin"))
    for (const name of ["ffmpeg", "ffprobe", "fetch-ffmpeg"]) {
      await writeFile(join(folder, "bin", name), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
    }
    await writeFile(join(folder, "packages"), "libc6\n")
    await writeFile(join(folder, "built.json"), JSON.stringify({ version }))
  }
}

describe.skipIf(LACK !== "")(`builds of ffmpeg in the cache${LACK}`, () => {
  test("a build is found by its version, otherwise the newest one", async () => {
    await using folder = await makeTempFolder("cache")
    const cache = join(folder.path, "lathe/ffmpeg")
    expect(await findCachedFfmpegBuild(cache)).toBeNull()
    const newer = await addFfmpegBuildToCache(cache, NEWER, buildOf(NEWER))
    const older = await addFfmpegBuildToCache(cache, OLDER, buildOf(OLDER))
    expect(await findCachedFfmpegBuild(cache)).toBe(newer)
    expect(await findCachedFfmpegBuild(cache, OLDER)).toBe(older)
    expect(await findCachedFfmpegBuild(cache, "7:8.0-1")).toBeNull()
    expect((await stat(cache)).mode & 0o777).toBe(0o700)
  })

  test("an installed build can be run by every user", async () => {
    await using folder = await makeTempFolder("cache")
    const path = await addFfmpegBuildToCache(join(folder.path, "cache"), OLDER, buildOf(OLDER))
    const clone = join(folder.path, "clone/ffmpeg")
    await installFfmpegBuild(path, clone)
    expect((await readdir(clone)).toSorted()).toEqual(["bin", "built.json", "packages"])
    expect((await readdir(join(clone, "bin"))).toSorted()).toEqual([
      "fetch-ffmpeg",
      "ffmpeg",
      "ffprobe",
    ])
    expect((await stat(join(clone, "bin/ffprobe"))).mode & 0o777).toBe(0o755)
    expect(await readFile(join(clone, "bin/ffprobe"), "utf8")).toContain(OLDER)
  })

  test("a build that fails, or is added a second time, leaves nothing", async () => {
    await using folder = await makeTempFolder("cache")
    const cache = join(folder.path, "cache")
    const failure = new Error("make ended with 2")
    const failing = addFfmpegBuildToCache(cache, OLDER, () => Promise.reject(failure))
    await expect(failing).rejects.toBe(failure)
    expect(await findCachedFfmpegBuild(cache)).toBeNull()
    const path = await addFfmpegBuildToCache(cache, OLDER, buildOf("first"))
    await addFfmpegBuildToCache(cache, OLDER, buildOf("second"))
    expect(await readdir(join(path, ".."))).toEqual([OLDER])
    expect(await readFile(join(path, "bin/ffmpeg"), "utf8")).toContain("first")
  })

  test.for(["bin/ffprobe", "packages", "SHA256SUMS"])(
    "a build with a changed %s is removed, and an older one is found",
    async (name) => {
      await using folder = await makeTempFolder("cache")
      const cache = join(folder.path, "cache")
      const older = await addFfmpegBuildToCache(cache, OLDER, buildOf(OLDER))
      const newer = await addFfmpegBuildToCache(cache, NEWER, buildOf(NEWER))
      await appendFile(join(newer, name), " ")
      expect(await findCachedFfmpegBuild(cache)).toBe(older)
      expect(existsSync(newer)).toBe(false)
    },
  )

  test.for<[what: string, spoil: (cache: string, top: string) => Promise<void>]>([
    ["below a folder of all users", async (_, top) => await chmod(top, 0o777)],
    [
      "that is a link",
      async (cache, top) => {
        await mkdir(join(top, "elsewhere"))
        await symlink(join(top, "elsewhere"), cache)
      },
    ],
  ])("a cache %s is refused", async ([, spoil]) => {
    await using folder = await makeTempFolder("cache")
    const top = join(folder.path, "top")
    await mkdir(top)
    const cache = join(top, "cache")
    await spoil(cache, top)
    const refused = findCachedFfmpegBuild(cache)
    await expect(refused).rejects.toThrow(CliError)
    await expect(refused).rejects.toThrow("XDG_CACHE_HOME")
  })
})

test("an absolute XDG_CACHE_HOME sets the folder of the cache", () => {
  expect(findUserCacheFolder({ XDG_CACHE_HOME: "/var/caches" })).toBe("/var/caches")
  expect(findUserCacheFolder({ XDG_CACHE_HOME: "caches" })).toMatch(/^\/.*\/\.cache$/)
  expect(findUserCacheFolder({})).toMatch(/\/\.cache$/)
})
