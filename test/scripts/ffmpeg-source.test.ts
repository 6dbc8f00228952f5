import { afterEach, expect, test, vi } from "vitest"
import { DEBIAN_SOURCE_VERSION_MIN } from "../../container/ffmpeg/build-options.ts"
import {
  describeNewerSourceVersion,
  describeNewerFfmpeg,
} from "../../scripts/deploy/ffmpeg-source.ts"

afterEach(() => {
  vi.unstubAllEnvs()
})

test("the source of the image causes no message", () => {
  expect(describeNewerSourceVersion(DEBIAN_SOURCE_VERSION_MIN)).toBeNull()
})

test("a newer source is named, with the remedy", () => {
  expect(describeNewerSourceVersion("7:7.1.6-0+deb13u1")).toMatch(
    /is 7:7\.1\.6-0\+deb13u1 now: name it as DEBIAN_SOURCE_VERSION_MIN in container\/ffmpeg/,
  )
})

test("a deployment continues without an answer, with a message", async () => {
  vi.stubEnv("WRANGLER_DOCKER_BIN", "/no/such/docker")
  expect(await describeNewerFfmpeg()).toMatch(
    /^The version of Debian's ffmpeg source could not be read/,
  )
})
