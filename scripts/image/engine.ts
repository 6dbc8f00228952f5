import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { findUserCacheFolder } from "../cli/user-cache.ts"
import { runDocker } from "./docker.ts"

/** Docker engine that this process can use until it disposes of this object. */
export type DockerEngine = AsyncDisposable

const LAB = resolve("../shared/container-lab/up.sh")
const UP_MS_MAX = 600_000
/**
 * Maximum number of attempts to start the Docker engine, because a network bridge of an earlier run
 * may make the script fail.
 */
const UP_ATTEMPTS_MAX = 4

/**
 * Finds a Docker engine: the engine that responds, else an engine that a script beside the
 * repository starts. The disposal stops a started engine. Returns the reason as text if no engine
 * is available.
 */
export async function findDockerEngine(): Promise<DockerEngine | string> {
  if (await answers()) return { [Symbol.asyncDispose]: () => Promise.resolve() }
  if (!existsSync(LAB)) return "no Docker engine responds (`docker info`)"
  if (process.getuid?.() !== 0) return "no Docker engine responds, and only root can start one here"
  console.error("Starting a Docker engine, which takes some minutes the first time ...")
  const folder = process.env["LAB"] ?? join(findUserCacheFolder(), "container-lab")
  const before = runningPid(folder)
  const stdout = await bringUp()
  for (const [, name, value] of stdout.matchAll(/(\w+)=(\S+)/g)) {
    if (name !== undefined && value !== undefined) process.env[name] = value
  }
  const pid = runningPid(folder)
  return {
    async [Symbol.asyncDispose]() {
      if (before === null && pid !== null) process.kill(pid, "SIGTERM")
    },
  }
}

/**
 * Runs the script that starts a Docker engine, with settings as `name=value`. Returns the output of
 * the script.
 */
async function bringUp(attempt = 1): Promise<string> {
  try {
    return (await promisify(execFile)(LAB, { timeout: UP_MS_MAX })).stdout
  } catch (error) {
    if (attempt === UP_ATTEMPTS_MAX) throw error
    return await bringUp(attempt + 1)
  }
}

async function answers(): Promise<boolean> {
  try {
    await runDocker("info", "--format", "{{.ServerVersion}}")
    return true
  } catch {
    return false
  }
}

/**
 * Returns the process id of the Docker engine that the script started. Returns null if the engine
 * is not running.
 */
function runningPid(folder: string): number | null {
  try {
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"))
    process.kill(pid, 0)
    return pid
  } catch {
    return null
  }
}
