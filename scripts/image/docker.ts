import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { promisify } from "node:util"

export const IMAGE = "lathe-runner:test"
const OUTPUT_BYTES_MAX = 32 * 1024 * 1024

/** Runs the docker client; its stdout. Throws where it fails. */
export async function docker(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("docker", words, { maxBuffer: OUTPUT_BYTES_MAX })
  return stdout.trim()
}

/** Builds the image from the working copy, which takes a second where only code has changed. */
export async function buildImage(): Promise<void> {
  await docker("build", "-q", "-t", IMAGE, "-f", "container/Dockerfile", ".")
}

/** The image's size, for whoever wonders why it takes long to start. */
export async function describeImage(): Promise<string> {
  const bytes = Number(await docker("image", "inspect", "--format", "{{.Size}}", IMAGE))
  return `The image has ${(bytes / 1e6).toFixed(0)} MB.`
}

/** Starts a container of the image with a token of its own; it is gone once it is disposed of. */
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

/** Runs JavaScript in a container, as its own user; what it prints. */
export async function runScriptIn(id: string, script: string): Promise<string> {
  return await docker("exec", id, "node", "--input-type=module", "--eval", script)
}
