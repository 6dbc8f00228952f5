import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { promisify } from "node:util"

export const IMAGE = "lathe-runner:test"
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

/** A sentence with the image's size, which decides how long a first start takes. */
export async function describeImage(): Promise<string> {
  const bytes = Number(await docker("image", "inspect", "--format", "{{.Size}}", IMAGE))
  return `The image has ${(bytes / 1e6).toFixed(0)} MB.`
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
