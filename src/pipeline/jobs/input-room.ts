import { OTHER_PLAN } from "../../contract/other-plan.ts"
import { WORKSPACE_BYTES_MIN } from "../../contract/protocol.ts"
import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import type { Limits } from "../../plans.ts"
import { containerDiskBytes } from "../../runner/pools.ts"
import { readStateDisk } from "../../storage/state-disk.ts"

/** The most bytes that the inputs of a job may have together, and what sets that bound. */
export type InputRoom = { bytesMax: number; boundBy: "plan" | "disk" }

/**
 * Finds the bound of a job's inputs: what the plan allows, and what the disk that its tasks are done
 * on, in runners of these pools, can hold even when nothing else is on it.
 */
export async function findInputRoom(
  env: Env,
  { inputBytesMax }: Limits,
  pools: readonly string[],
): Promise<InputRoom> {
  const diskBytes = await findDiskBytes(env, pools)
  if (diskBytes === null || inputBytesMax <= diskBytes) {
    return { bytesMax: inputBytesMax, boundBy: "plan" }
  }
  return { bytesMax: diskBytes, boundBy: "disk" }
}

/** What the disk has for inputs; null where that is not known. */
async function findDiskBytes(env: Env, pools: readonly string[]): Promise<number | null> {
  const settings = settingsOf(env)
  if (settings.RUNNER_ORIGIN === undefined) {
    const disks = pools.map((pool) => containerDiskBytes(pool, settings))
    return Math.min(...disks) - WORKSPACE_BYTES_MIN
  }
  const disk = await readStateDisk(env)
  if (!disk) return null
  const usableBytes = disk.totalBytes - settings.DISK_RESERVE_BYTES - WORKSPACE_BYTES_MIN
  // The stored files stay on the disk beside their copies in the workspace.
  return Math.max(0, Math.floor(usableBytes / 2))
}

/**
 * Says that files, by id, are too large to be the inputs of one job; null where they are not. A size
 * that is not known yet counts as none.
 */
export function describeOversize(
  sizes: ReadonlyMap<string, number | null>,
  { bytesMax, boundBy }: InputRoom,
): string | null {
  const bytes = sizes.values().reduce<number>((sum, each) => sum + (each ?? 0), 0)
  if (bytes <= bytesMax) return null
  const sentence = `the inputs have ${bytes} bytes together, and`
  return boundBy === "plan"
    ? `${sentence} this account may have ${bytesMax}: take fewer or smaller ones, or ${OTHER_PLAN}`
    : `${sentence} this service, by the disk that it works on, may have ${bytesMax}`
}
