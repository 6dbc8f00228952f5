import { PLAN_LIMIT_REMEDY } from "../contract/plan-limit-remedy.ts"
import { WORKSPACE_BYTES_MIN } from "../contract/protocol.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import type { PlanLimits } from "../domain/plans.ts"
import { computeUsableContainerDiskBytes } from "../bindings/pools.ts"
import { readStorageDiskSpace } from "../bindings/storage-disk.ts"

/**
 * Limit of the total size of a job's inputs. `boundBy` is the origin of the limit: the plan or the
 * runner's disk.
 */
export type InputBytesLimit = { bytesMax: number; boundBy: "plan" | "disk" }

/**
 * Returns the limit of the total size of a job's inputs: the lower of the plan's limit and the free
 * space on an empty disk of the job's runners.
 */
export async function findInputBytesLimit(
  env: Env,
  { inputBytesMax }: PlanLimits,
  pools: readonly string[],
): Promise<InputBytesLimit> {
  const diskBytes = await findDiskBytes(env, pools)
  if (diskBytes === null || inputBytesMax <= diskBytes) {
    return { bytesMax: inputBytesMax, boundBy: "plan" }
  }
  return { bytesMax: diskBytes, boundBy: "disk" }
}

/**
 * Returns the bytes that an empty disk offers for inputs, or null if the size of the disk is
 * unknown.
 */
async function findDiskBytes(env: Env, pools: readonly string[]): Promise<number | null> {
  const settings = getSettings(env)
  if (settings.RUNNER_ORIGIN === undefined) {
    const disks = pools.map((pool) => computeUsableContainerDiskBytes(pool, settings))
    return Math.min(...disks) - WORKSPACE_BYTES_MIN
  }
  const disk = await readStorageDiskSpace(env)
  if (!disk) return null
  const usableBytes = disk.totalBytes - settings.DISK_RESERVE_BYTES - WORKSPACE_BYTES_MIN
  // Inputs may use half of the space: the files stay in storage on the same disk while the folder
  // of the run holds copies of them.
  return Math.max(0, Math.floor(usableBytes / 2))
}

/**
 * Returns a clause that explains why files are too large as inputs of one job, or null if the files
 * fit. Unknown sizes count as 0.
 */
export function describeOversizedInputs(
  sizes: ReadonlyMap<string, number | null>,
  { bytesMax, boundBy }: InputBytesLimit,
): string | null {
  const bytes = sizes.values().reduce<number>((sum, each) => sum + (each ?? 0), 0)
  if (bytes <= bytesMax) return null
  const sentence = `the inputs have ${bytes} bytes in total, and`
  return boundBy === "plan"
    ? `${sentence} the plan allows ${bytesMax}: use fewer or smaller inputs, or ${PLAN_LIMIT_REMEDY}`
    : `${sentence} the disk of the service has room for ${bytesMax}: use fewer or smaller inputs`
}
