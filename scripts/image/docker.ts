import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { promisify } from "node:util"

export const TEST_IMAGE = "lathe-runner:test"

/** Base image of all stages of the Dockerfile. */
export const BASE_IMAGE = "node:24-trixie-slim"

/** Pattern of the image layers for fetches and speech in `docker history`. */
const FETCH_AND_SPEECH = /\/opt\/(?:fetch|speech|models)|install.* python3/
const OUTPUT_BYTES_MAX = 32 * 1024 * 1024

/** Runs the Docker client and returns its stdout. Throws if the client fails. */
export async function runDocker(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("docker", words, { maxBuffer: OUTPUT_BYTES_MAX })
  return stdout.trim()
}

/**
 * Builds the runner's image from the working copy. The build takes a second if only code has
 * changed.
 */
export async function buildImage(): Promise<void> {
  await runDocker("build", "-q", "-t", TEST_IMAGE, "-f", "container/Dockerfile", ".")
}

/**
 * Returns a sentence with the size of the image and its parts. The size determines the duration of
 * a container's first start.
 */
export async function describeImageSize(): Promise<string> {
  const [layers, ofBase] = await Promise.all([readLayers(TEST_IMAGE), readLayers(BASE_IMAGE)])
  const own = layers.slice(0, layers.length - ofBase.length)
  const later = own.filter(({ line }) => FETCH_AND_SPEECH.test(line))
  const [all, base, added] = [sumMb(layers), sumMb(ofBase), sumMb(later)]
  const between = all - base - added
  return `The image has ${all} MB: its base ${base}, what fetches and transcribes ${added}, all else ${between}.`
}

type Layer = { bytes: number; line: string }

/** Reads the layers of an image, newest first. */
async function readLayers(image: string): Promise<Layer[]> {
  const format = "{{.Size}} {{.CreatedBy}}"
  const words = ["history", "--no-trunc", "--human=false", "--format", format, image]
  const lines = (await runDocker(...words)).split("\n")
  return lines.map((line) => ({ bytes: Number.parseInt(line, 10), line }))
}

function sumMb(layers: readonly Layer[]): number {
  return Math.round(layers.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6)
}

/** Starts a container of the image with a random token. The disposal removes the container. */
export async function startContainer(
  options: string[] = [],
): Promise<AsyncDisposable & { id: string }> {
  const token = `RUNNER_TOKEN=${randomBytes(24).toString("hex")}`
  const id = await runDocker("run", "--detach", "--env", token, ...options, TEST_IMAGE)
  return {
    id,
    async [Symbol.asyncDispose]() {
      await runDocker("rm", "--force", "--volumes", id)
    },
  }
}

/** Runs JavaScript in a container as the image's user. Returns its stdout. */
export async function runScriptInContainer(id: string, script: string): Promise<string> {
  return await runDocker("exec", id, "node", "--input-type=module", "--eval", script)
}
