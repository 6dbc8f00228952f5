import { afterEach, expect, test, vi } from "vitest"
import { SOURCE_VERSION_MIN } from "../../container/ffmpeg/build-options.ts"
import { describeSource, tellOfFfmpeg } from "../../scripts/deploy/ffmpeg-source.ts"

afterEach(() => {
  vi.unstubAllEnvs()
})

test("nothing is said of a source that the image has", () => {
  expect(describeSource(SOURCE_VERSION_MIN)).toBeNull()
})

test("a newer one is named, with what to do", () => {
  expect(describeSource("7:7.1.6-0+deb13u1")).toMatch(
    /is 7:7\.1\.6-0\+deb13u1 now: name it as SOURCE_VERSION_MIN in container\/ffmpeg/,
  )
})

test("a deployment without an answer goes on, and says so", async () => {
  vi.stubEnv("WRANGLER_DOCKER_BIN", "/no/such/docker")
  expect(await tellOfFfmpeg()).toMatch(/^Debian could not be asked/)
})
