import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { userCacheFolder } from "../local/user-cache.ts"
import { docker } from "./docker.ts"

/** A Docker engine that this process can use until it is disposed of. */
export type Engine = AsyncDisposable

const LAB = resolve("../shared/container-lab/up.sh")
const UP_MS_MAX = 600_000
/** Its script fails now and then where a bridge of an earlier run is still there. */
const UP_ATTEMPTS_MAX = 4

/**
 * Finds a Docker engine: the one that answers, else one of a laboratory beside the repository,
 * which is stopped again if it did not run before. Returns why there is none.
 */
export async function findEngine(): Promise<Engine | string> {
  if (await answers()) return { [Symbol.asyncDispose]: () => Promise.resolve() }
  if (!existsSync(LAB)) return "no Docker engine answers (`docker info`)"
  if (process.getuid?.() !== 0) return "no Docker engine answers, and only root can start one here"
  console.error("Starting a Docker engine, which takes some minutes the first time ...")
  const folder = process.env["LAB"] ?? join(userCacheFolder(), "container-lab")
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

/** Answers what the laboratory's script prints: settings, one `name=value` each. */
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
    await docker("info", "--format", "{{.ServerVersion}}")
    return true
  } catch {
    return false
  }
}

/** The process of a laboratory's engine; null where it does not run. */
function runningPid(folder: string): number | null {
  try {
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"))
    process.kill(pid, 0)
    return pid
  } catch {
    return null
  }
}
