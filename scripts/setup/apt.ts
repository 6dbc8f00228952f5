import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { z } from "zod"
import { CliError } from "../cli/cli-error.ts"

const run = promisify(execFile)
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const TAIL_LINES = 15

const failedRun = z.object({ message: z.string(), stdout: z.string(), stderr: z.string() })

/**
 * Reports whether this process can install Debian packages: the process runs as root, and apt-get
 * exists.
 */
export async function canInstallAptPackages(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  try {
    await run("apt-get", ["--version"])
    return true
  } catch {
    return false
  }
}

/**
 * Installs Debian packages. Throws a CliError with the end of apt-get's output if the installation
 * fails.
 */
export async function installAptPackages(...packages: string[]): Promise<void> {
  await aptGet("update")
  await aptGet("install", "-y", "--no-install-recommends", ...packages)
}

async function aptGet(...words: string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  try {
    await run("apt-get", words, { env, maxBuffer: OUTPUT_BYTES_MAX })
  } catch (error) {
    const { data } = failedRun.safeParse(error)
    const lines = data ? `${data.stdout}\n${data.stderr}`.trim().split("\n") : [String(error)]
    const tail = lines.slice(-TAIL_LINES).join("\n")
    throw new CliError(`apt-get ${words.join(" ")} failed:\n${tail}`, { cause: error })
  }
}
