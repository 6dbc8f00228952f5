import { join } from "node:path"
import { WORKSPACE_BYTES_MIN } from "../../src/contract/protocol.ts"
import { inputBytesOf } from "../../src/contract/task.ts"
import type { TaskOrder } from "../../src/contract/task.ts"
import { diskOf } from "../sandbox/free-space.ts"
import type { DiskBytes } from "../sandbox/free-space.ts"
import { measureByNames } from "../sandbox/meter.ts"
import { workspaceName } from "../sandbox/workspace.ts"
import type { RunnerSettings } from "../settings.ts"

/**
 * What the disk has for a task: bytes that its tools may write beside its inputs, or why it cannot
 * begin. `inputBytesMax` is what its inputs may have where even the empty disk is too small.
 */
export type DiskRoom = { workspaceBytes: number } | { inputBytesMax: number } | "no room"

/** Bytes of the disk that running tasks may still use up, by the names of their workspaces. */
export type DiskSpace = {
  /**
   * Finds room for a task beside all others. Of what is free a task gets an equal part for each of
   * `slots`, which are those of its pool that are idle; `used` is what the others have used.
   */
  find(order: TaskOrder, slots: number, used?: ReadonlyMap<string, number>): DiskRoom
  /** Counts a task's room as taken until it is released. */
  reserve(order: TaskOrder, room: { workspaceBytes: number }): { release(): void }
  /** Bytes that tasks with a reservation have used, by the names of their workspaces. */
  measureUsed(): Promise<Map<string, number>>
}

/** Opens the disk that a runner's workspaces are on. */
export function openDiskSpace({ capacity, limits, workDir }: RunnerSettings): DiskSpace {
  const reserved = new Map<string, number>()
  function outstandingBeside(order: TaskOrder, used: ReadonlyMap<string, number>): number {
    const others = [...reserved].filter(([name]) => !name.startsWith(`${order.task_id}.`))
    return others.reduce(
      (sum, [name, bytes]) => sum + Math.max(0, bytes - (used.get(name) ?? 0)),
      0,
    )
  }
  function share(order: TaskOrder, disk: DiskBytes, slots: number, outstanding: number): DiskRoom {
    const inputBytes = inputBytesOf(order.inputs)
    const leastBytes = doesWrite(order) ? WORKSPACE_BYTES_MIN : 0
    const inputBytesMax = disk.total - limits.diskReserveBytes - leastBytes
    if (inputBytes > inputBytesMax) return { inputBytesMax: Math.max(0, inputBytesMax) }
    const room = disk.free - limits.diskReserveBytes - outstanding - inputBytes
    if (room < leastBytes) return "no room"
    // One part more stays for the tasks of other pools.
    const parts = capacity > 1 ? slots + 1 : 1
    const workspaceBytes = Math.max(leastBytes, Math.floor(room / parts))
    return { workspaceBytes: Math.min(limits.workspaceBytes, workspaceBytes) }
  }
  return {
    find(order, slots, used = new Map()) {
      const disk = diskOf(workDir)
      if (!disk) return { workspaceBytes: limits.workspaceBytes }
      return share(order, disk, slots, outstandingBeside(order, used))
    },
    reserve(order, { workspaceBytes }) {
      const name = nameOf(order)
      reserved.set(name, inputBytesOf(order.inputs) + (doesWrite(order) ? workspaceBytes : 0))
      return { release: () => void reserved.delete(name) }
    },
    async measureUsed() {
      const names = [...reserved.keys()]
      const measured = names.map(async (name) => {
        const path = join(workDir, name)
        const used = await measureByNames(path, limits.workspaceFiles).catch(() => null)
        // What cannot be measured, or is not there yet, may still use all that it reserved.
        return [name, used && Number.isFinite(used.bytes) ? used.bytes : 0] as const
      })
      return new Map(await Promise.all(measured))
    },
  }
}

/** A task that stores no outputs writes nothing. */
function doesWrite({ work }: TaskOrder): boolean {
  return (work.outputs ?? []).length > 0
}

function nameOf({ task_id: taskId, fence }: TaskOrder): string {
  return workspaceName({ taskId, fence })
}
