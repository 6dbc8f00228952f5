import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { DEBIAN_SOURCE_VERSION_MIN } from "../../container/ffmpeg/build-options.ts"
import { BASE_IMAGE } from "../image/docker.ts"

const ANSWER_MS_MAX = 60_000
const ASK = "apt-get update >/dev/null && exec node /ffmpeg/main.ts newest"

/**
 * Compares Debian's source version of ffmpeg with the version from which the image was last built.
 * Returns a sentence if Debian's version is newer or cannot be read, else null. Reads the version
 * in a container, as the build of the image does.
 */
export async function describeNewerFfmpeg(): Promise<string | null> {
  const docker = process.env["WRANGLER_DOCKER_BIN"] ?? "docker"
  const folder = `${resolve("container/ffmpeg")}:/ffmpeg:ro`
  const words = ["run", "--rm", "--volume", folder, BASE_IMAGE, "sh", "-c", ASK]
  try {
    const options = { timeout: ANSWER_MS_MAX }
    const newest = (await promisify(execFile)(docker, words, options)).stdout.trim()
    return describeNewerSourceVersion(newest)
  } catch {
    return "The version of Debian's ffmpeg source could not be read, so it was not compared with the image's."
  }
}

/**
 * Returns advice about a newer source version of ffmpeg. Returns null if the image has this
 * version.
 */
export function describeNewerSourceVersion(newest: string): string | null {
  if (newest === DEBIAN_SOURCE_VERSION_MIN) return null
  return (
    `Debian's source of ffmpeg is ${newest} now: name it as DEBIAN_SOURCE_VERSION_MIN in ` +
    "container/ffmpeg/build-options.ts, so that the image is built with it."
  )
}
