import { join } from "node:path"
import { WORKSPACE_BYTES_MIN } from "../../src/contract/protocol.ts"
import { sumInputBytes } from "../../src/contract/task.ts"
import type { TaskOrder } from "../../src/contract/task.ts"
import { readDiskSizes } from "../sandbox/disk-sizes.ts"
import type { DiskSizes } from "../sandbox/disk-sizes.ts"
import { measureFolderUsage } from "../sandbox/workspace-meter.ts"
import { workspaceName } from "../sandbox/workspace.ts"
import type { RunnerSettings } from "../settings.ts"

/**
 * Disk space for a task, or the reason why the task cannot start. `workspaceBytes`: the number of
 * bytes that the task's tools may write in addition to the inputs. `no room`: the task has to wait,
 * because running tasks use the disk. `inputBytesMax`: the task is refused, because the disk is too
 * small or other files have filled the disk for too long. The value is the maximum total size of
 * inputs that would fit; it is negative if not even a task without inputs fits.
 */
export type TaskDiskSpace = { workspaceBytes: number } | { inputBytesMax: number } | "no room"

/** Disk space that the running tasks of this runner have reserved. */
export type DiskReservationManager = {
  /**
   * Returns the disk space for a new task, or `no room` while the task has to wait. The free space
   * is divided equally among the idle slots of the task's pool (`slots`). If the runner takes more
   * than one task, one more share is left for the other pools. `used` contains the bytes that
   * running tasks have already written, so that these bytes are not subtracted a second time as
   * reserved. A task that would not fit even if all running tasks ended gets `no room` at first, so
   * that an operator can delete other files. After a time limit it gets `inputBytesMax` and is
   * refused.
   */
  find(order: TaskOrder, slots: number, used?: ReadonlyMap<string, number>): TaskDiskSpace
  /** Reserves disk space for a task until `release` is called. */
  reserve(order: TaskOrder, room: { workspaceBytes: number }): DiskReservation
  /**
   * Returns the number of bytes that each task with a reservation has already written, by the name
   * of the task's workspace.
   */
  measureUsed(): Promise<Map<string, number>>
}

/**
 * Disk space that is reserved for one task. `workIn` sets the folder in which the disk usage of the
 * task is measured.
 */
export type DiskReservation = { workIn(folder: string): void; release(): void }

/** Creates the manager that reserves space on the disk with the runner's workspaces. */
export function createDiskReservationManager(settings: RunnerSettings): DiskReservationManager {
  const { capacity, limits, workDir } = settings
  const diskWaits = openDiskWaits(settings.diskWaitMs)
  const reserved = new Map<string, number>()
  const folders = new Map<string, string>()
  function unspentBytesBeside(order: TaskOrder, used: ReadonlyMap<string, number>): number {
    const others = [...reserved].filter(([name]) => !name.startsWith(`${order.task_id}.`))
    const missing = others.map(([name, bytes]) => Math.max(0, bytes - (used.get(name) ?? 0)))
    return missing.reduce((sum, bytes) => sum + bytes, 0)
  }
  function share(order: TaskOrder, disk: DiskSizes, slots: number, unspent: number): TaskDiskSpace {
    const leastBytes = leastBytesOf(order)
    const room = disk.free - limits.diskReserveBytes - unspent - sumInputBytes(order.inputs)
    if (room < leastBytes) return "no room"
    // Adds a part for the tasks of other pools, which use the same disk.
    const parts = capacity > 1 ? slots + 1 : 1
    const workspaceBytes = Math.max(leastBytes, Math.floor(room / parts))
    return { workspaceBytes: Math.min(limits.workspaceBytes, workspaceBytes) }
  }
  return {
    find(order, slots, used) {
      const disk = readDiskSizes(workDir)
      if (!disk) return { workspaceBytes: limits.workspaceBytes }
      const inputBytes = sumInputBytes(order.inputs)
      const unusableBytes = limits.diskReserveBytes + leastBytesOf(order)
      const inputBytesMax = disk.total - unusableBytes
      if (inputBytes > inputBytesMax) return { inputBytesMax }
      const room = share(order, disk, slots, unspentBytesBeside(order, used ?? new Map()))
      // Without `used`, it is unknown how much space the running tasks would free at their end, so
      // the task is not refused yet.
      if (room === "no room" && !used) return room
      const givenBack = used?.values().reduce((sum, bytes) => sum + bytes, 0) ?? 0
      const aloneBytesMax = disk.free + givenBack - unusableBytes
      const isInVain = room === "no room" && inputBytes > aloneBytesMax
      return diskWaits.hasTimedOut(order.task_id, isInVain)
        ? { inputBytesMax: aloneBytesMax }
        : room
    },
    reserve(order, { workspaceBytes }) {
      const name = nameOf(order)
      reserved.set(name, sumInputBytes(order.inputs) + (doesWrite(order) ? workspaceBytes : 0))
      return {
        workIn: (folder) => void folders.set(name, folder),
        release() {
          reserved.delete(name)
          folders.delete(name)
        },
      }
    },
    async measureUsed() {
      const names = [...reserved.keys()]
      const measured = names.map(async (name) => {
        const folder = folders.get(name) ?? join(workDir, name)
        const used = await measureFolderUsage(folder, limits.workspaceFiles).catch(() => null)
        // Counts 0 bytes if the measurement fails, so that the whole reservation stays reserved.
        return [name, used && Number.isFinite(used.bytes) ? used.bytes : 0] as const
      })
      return new Map(await Promise.all(measured))
    },
  }
}

function leastBytesOf(order: TaskOrder): number {
  return doesWrite(order) ? WORKSPACE_BYTES_MIN : 0
}

/** Reports whether a task has outputs. The tools of a task without outputs write no files. */
function doesWrite({ work }: TaskOrder): boolean {
  return (work.outputs ?? []).length > 0
}

function nameOf({ task_id: taskId, fence }: TaskOrder): string {
  return workspaceName({ taskId, fence })
}

/**
 * Times since which tasks wait for more disk space than the end of all running tasks would free.
 */
type DiskWaits = {
  /**
   * Records whether a task waits in vain (`isInVain`): for more disk space than the end of all
   * running tasks would free. Returns true if the task has waited in vain for too long.
   */
  hasTimedOut(taskId: string, isInVain: boolean): boolean
}

/**
 * Maximum number of waiting tasks that are remembered. The oldest entries are dropped, since an
 * entry of a canceled task would otherwise remain forever.
 */
const TASKS_MAX = 1000

/**
 * Creates the record of tasks that wait in vain for disk space. Such a wait times out after
 * `waitMs` milliseconds.
 */
function openDiskWaits(waitMs: number): DiskWaits {
  const begunAt = new Map<string, number>()
  return {
    hasTimedOut(taskId, isInVain) {
      if (!isInVain) {
        begunAt.delete(taskId)
        return false
      }
      const now = performance.now()
      const begun = begunAt.get(taskId) ?? now
      begunAt.set(taskId, begun)
      const [oldest] = begunAt.keys()
      if (begunAt.size > TASKS_MAX && oldest !== undefined) begunAt.delete(oldest)
      return now - begun >= waitMs
    },
  }
}
