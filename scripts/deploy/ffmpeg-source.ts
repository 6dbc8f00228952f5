import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { SOURCE_VERSION_MIN } from "../../container/ffmpeg/build-options.ts"
import { BASE_IMAGE } from "../image/docker.ts"

const ANSWER_MS_MAX = 60_000
const ASK = "apt-get update >/dev/null && exec node /ffmpeg/main.ts newest"

/**
 * A sentence where Debian's source of ffmpeg is newer than what the image's layer was last built for,
 * or cannot be asked for; null where there is nothing to say. It asks as the image's build does.
 */
export async function tellOfFfmpeg(): Promise<string | null> {
  const docker = process.env["WRANGLER_DOCKER_BIN"] ?? "docker"
  const folder = `${resolve("container/ffmpeg")}:/ffmpeg:ro`
  const words = ["run", "--rm", "--volume", folder, BASE_IMAGE, "sh", "-c", ASK]
  try {
    const options = { timeout: ANSWER_MS_MAX }
    const newest = (await promisify(execFile)(docker, words, options)).stdout.trim()
    return describeSource(newest)
  } catch {
    return "Debian could not be asked whether its source of ffmpeg is newer than the image's."
  }
}

/** What to say of the newest version of the source; null where the image has it. */
export function describeSource(newest: string): string | null {
  if (newest === SOURCE_VERSION_MIN) return null
  return (
    `Debian's source of ffmpeg is ${newest} now: name it as SOURCE_VERSION_MIN in ` +
    "container/ffmpeg/build-options.ts, so that the image is built with it."
  )
}
