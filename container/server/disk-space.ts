import { join } from "node:path"
import { WORKSPACE_BYTES_MIN } from "../../src/contract/protocol.ts"
import { inputBytesOf } from "../../src/contract/task.ts"
import type { TaskOrder } from "../../src/contract/task.ts"
import { diskOf } from "../sandbox/free-space.ts"
import type { DiskBytes } from "../sandbox/free-space.ts"
import { measureByNames } from "../sandbox/meter.ts"
import { workspaceName } from "../sandbox/workspace.ts"
import type { RunnerSettings } from "../settings.ts"
import { openVainWaits } from "./vain-waits.ts"

/**
 * What the disk has for a task: bytes that its tools may write beside its inputs, or why it cannot
 * begin. `inputBytesMax` is what its inputs may have where they never fit: even the empty disk is too
 * small, or what nothing that runs takes has been for too long. Negative: so much lacks for any task.
 */
export type DiskRoom = { workspaceBytes: number } | { inputBytesMax: number } | "no room"

/** Bytes of the disk that running tasks may still use up, by the names of their workspaces. */
export type DiskSpace = {
  /**
   * Finds room for a task beside all others. Of what is free a task gets an equal part for each of
   * `slots`, which are those of its pool that are idle; `used` is what the others have used. A task
   * that would have no room without the others either waits a bounded time only, as somebody may
   * delete files meanwhile.
   */
  find(order: TaskOrder, slots: number, used?: ReadonlyMap<string, number>): DiskRoom
  /** Counts a task's room as taken until it is released. */
  reserve(order: TaskOrder, room: { workspaceBytes: number }): Reservation
  /** Bytes that tasks with a reservation have used, by the names of their workspaces. */
  measureUsed(): Promise<Map<string, number>>
}

/** The room of one task; what it has used is measured in the folder that it works in. */
export type Reservation = { workIn(folder: string): void; release(): void }

/** Opens the disk that a runner's workspaces are on. */
export function openDiskSpace(settings: RunnerSettings): DiskSpace {
  const { capacity, limits, workDir } = settings
  const vainWaits = openVainWaits(settings.diskWaitMs)
  const reserved = new Map<string, number>()
  const folders = new Map<string, string>()
  function outstandingBeside(order: TaskOrder, used: ReadonlyMap<string, number>): number {
    const others = [...reserved].filter(([name]) => !name.startsWith(`${order.task_id}.`))
    return others.reduce(
      (sum, [name, bytes]) => sum + Math.max(0, bytes - (used.get(name) ?? 0)),
      0,
    )
  }
  function share(order: TaskOrder, disk: DiskBytes, slots: number, outstanding: number): DiskRoom {
    const leastBytes = leastBytesOf(order)
    const room = disk.free - limits.diskReserveBytes - outstanding - inputBytesOf(order.inputs)
    if (room < leastBytes) return "no room"
    // One part more stays for the tasks of other pools.
    const parts = capacity > 1 ? slots + 1 : 1
    const workspaceBytes = Math.max(leastBytes, Math.floor(room / parts))
    return { workspaceBytes: Math.min(limits.workspaceBytes, workspaceBytes) }
  }
  return {
    find(order, slots, used) {
      const disk = diskOf(workDir)
      if (!disk) return { workspaceBytes: limits.workspaceBytes }
      const inputBytes = inputBytesOf(order.inputs)
      const unusableBytes = limits.diskReserveBytes + leastBytesOf(order)
      const inputBytesMax = disk.total - unusableBytes
      if (inputBytes > inputBytesMax) return { inputBytesMax }
      const room = share(order, disk, slots, outstandingBeside(order, used ?? new Map()))
      // What the others would give back is not known before it is measured.
      if (room === "no room" && !used) return room
      const givenBack = used?.values().reduce((sum, bytes) => sum + bytes, 0) ?? 0
      const aloneBytesMax = disk.free + givenBack - unusableBytes
      const isInVain = room === "no room" && inputBytes > aloneBytesMax
      return vainWaits.isOver(order.task_id, isInVain) ? { inputBytesMax: aloneBytesMax } : room
    },
    reserve(order, { workspaceBytes }) {
      const name = nameOf(order)
      reserved.set(name, inputBytesOf(order.inputs) + (doesWrite(order) ? workspaceBytes : 0))
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
        const used = await measureByNames(folder, limits.workspaceFiles).catch(() => null)
        // What cannot be measured, or is not there yet, may still use all that it reserved.
        return [name, used && Number.isFinite(used.bytes) ? used.bytes : 0] as const
      })
      return new Map(await Promise.all(measured))
    },
  }
}

function leastBytesOf(order: TaskOrder): number {
  return doesWrite(order) ? WORKSPACE_BYTES_MIN : 0
}

/** A task that stores no outputs writes nothing. */
function doesWrite({ work }: TaskOrder): boolean {
  return (work.outputs ?? []).length > 0
}

function nameOf({ task_id: taskId, fence }: TaskOrder): string {
  return workspaceName({ taskId, fence })
}
