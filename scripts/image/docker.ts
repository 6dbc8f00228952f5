import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { promisify } from "node:util"

export const IMAGE = "lathe-runner:test"

/** What the stages of the Dockerfile begin from. */
export const BASE_IMAGE = "node:24-trixie-slim"

/** What names the layers of fetching and speech in an image's history. */
const FETCH_AND_SPEECH = /\/opt\/(?:fetch|speech|models)|install.* python3/
const OUTPUT_BYTES_MAX = 32 * 1024 * 1024

/** Runs the docker client and returns its stdout; throws where it fails. */
export async function docker(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("docker", words, { maxBuffer: OUTPUT_BYTES_MAX })
  return stdout.trim()
}

/** Builds the image from the working copy, which takes a second where only code has changed. */
export async function buildImage(): Promise<void> {
  await docker("build", "-q", "-t", IMAGE, "-f", "container/Dockerfile", ".")
}

/** A sentence with the image's size, which decides how long a first start takes, and its parts. */
export async function describeImage(): Promise<string> {
  const [layers, ofBase] = await Promise.all([readLayers(IMAGE), readLayers(BASE_IMAGE)])
  const own = layers.slice(0, layers.length - ofBase.length)
  const later = own.filter(({ line }) => FETCH_AND_SPEECH.test(line))
  const [all, base, added] = [sumMb(layers), sumMb(ofBase), sumMb(later)]
  const between = all - base - added
  return `The image has ${all} MB: its base ${base}, what fetches and transcribes ${added}, all else ${between}.`
}

type Layer = { bytes: number; line: string }

/** Layers of an image, the newest first. */
async function readLayers(image: string): Promise<Layer[]> {
  const format = "{{.Size}} {{.CreatedBy}}"
  const words = ["history", "--no-trunc", "--human=false", "--format", format, image]
  const lines = (await docker(...words)).split("\n")
  return lines.map((line) => ({ bytes: Number.parseInt(line, 10), line }))
}

function sumMb(layers: readonly Layer[]): number {
  return Math.round(layers.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6)
}

/** Starts a container of the image with a random token; disposing of it removes it. */
export async function runContainer(
  options: string[] = [],
): Promise<AsyncDisposable & { id: string }> {
  const token = `RUNNER_TOKEN=${randomBytes(24).toString("hex")}`
  const id = await docker("run", "--detach", "--env", token, ...options, IMAGE)
  return {
    id,
    async [Symbol.asyncDispose]() {
      await docker("rm", "--force", "--volumes", id)
    },
  }
}

/** Runs JavaScript in a container, as the image's user, and returns its stdout. */
export async function runScriptIn(id: string, script: string): Promise<string> {
  return await docker("exec", id, "node", "--input-type=module", "--eval", script)
}
