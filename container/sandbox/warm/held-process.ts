import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { statSync } from "node:fs"
import { createWorkspaceMeter } from "../workspace-meter.ts"
import { isReadableStream } from "../tool-output.ts"
import { LAUNCHER_REPORT_FD, listPathsVisibleToTool, heldProcessArgv } from "../sandbox.ts"
import type { ToolLaunch, WaitingProcessKind, HeldProcess } from "../sandbox.ts"
import {
  killProcessGroup,
  killProcessGroupOnExit,
  unregisterProcessGroup,
} from "../supervise-process.ts"

/**
 * Maximum size of a launch order (arguments and limits of a tool), in bytes: see
 * container/launcher/order.c.
 */
const ORDER_BYTES_MAX = 1024 ** 2
const LENGTH_BYTES = 4
const READY_MS_MAX = 30_000

/**
 * Starts a process that waits in a sandbox for its launch order. The launch order contains the
 * arguments and limits of the tool.
 */
export function startHeldProcess(launch: ToolLaunch, form: WaitingProcessKind): HeldProcess {
  const { cwd, access, taskSandbox } = launch
  const { tier, limits } = taskSandbox.sandbox
  const paths = listPathsVisibleToTool(launch, form)
  const identity = identifyFiles(paths)
  const [program, ...argv] = heldProcessArgv(launch, form)
  const stdio = ["pipe", "pipe", "pipe", "pipe"] as const
  const child = spawn(program, argv, { cwd, detached: true, env: {}, stdio: [...stdio] })
  killProcessGroupOnExit(child)
  const meter = access === "write" ? createWorkspaceMeter(tier, cwd, limits.workspaceFiles) : null
  const ready = Promise.withResolvers<boolean>()
  // Kills a process that does not report in time that it waits for a launch order, for example
  // because its program ignores the preloaded library.
  const readyTimer = setTimeout(() => killProcessGroup(child, "SIGKILL"), READY_MS_MAX)
  const closed = Promise.withResolvers<void>()
  let state: "starting" | "waiting" | "ordered" | "begun" | "ended" = "starting"
  function end(): void {
    if (state !== "begun") state = "ended"
    clearTimeout(readyTimer)
    unregisterProcessGroup(child)
    ready.resolve(false)
    closed.resolve()
  }
  function readReport(chunk: Buffer): void {
    if (state === "starting") state = "waiting"
    clearTimeout(readyTimer)
    ready.resolve(true)
    if (state !== "ordered" || !chunk.includes("\n")) return
    state = "begun"
    child.stdio[LAUNCHER_REPORT_FD]?.off("data", readReport)
  }
  const report = child.stdio[LAUNCHER_REPORT_FD]
  if (isReadableStream(report)) report.on("data", readReport)
  // Ignores errors of writes to a process that has ended, since `ready` and `hasStarted` report the
  // end of the process.
  child.stdin?.on("error", () => undefined)
  child.once("error", end).once("close", end)
  return {
    child,
    meter,
    ready: ready.promise,
    matches(other) {
      const isSame = isSameSandbox(launch, other) && identifyFiles(paths) === identity
      return state === "waiting" && isAlive(child) && isSame
    },
    sendOrder(order) {
      state = "ordered"
      child.stdin?.end(order)
    },
    hasStarted: () => state === "begun",
    async discard() {
      meter?.close()
      if (isAlive(child)) killProcessGroup(child, "SIGKILL")
      await closed.promise
    },
  }
}

/**
 * Encodes the arguments of a launch order in the format of container/launcher/order.c. Returns null
 * for arguments that the format cannot represent. The tool is then started in a new process, whose
 * start reports the error.
 */
export function encodeLaunchOrder(words: readonly string[]): Buffer | null {
  if (words.some((word) => word.includes("\0"))) return null
  const text = Buffer.from(words.map((word) => `${word}\0`).join(""))
  if (text.length > ORDER_BYTES_MAX) return null
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(text.length)
  return Buffer.concat([length, text])
}

/**
 * Reports whether a process that waits in the sandbox of launch `one` can run the launch `other`.
 * The launches may differ only in values that a launch order contains.
 */
function isSameSandbox(one: ToolLaunch, other: ToolLaunch): boolean {
  const { network, mayFork, run, read } = other
  const isPlain = network === undefined && mayFork !== true && !run?.length && !read?.length
  const { sandbox, uid } = other.taskSandbox
  const hasSameUser = one.taskSandbox.sandbox === sandbox && one.taskSandbox.uid === uid
  const isSameTool = one.tool === other.tool && one.access === other.access
  return isPlain && hasSameUser && isSameTool && one.cwd === other.cwd
}

/**
 * Returns a text that identifies the files at these paths by device and inode. The text changes if
 * a file is replaced.
 */
function identifyFiles(paths: readonly string[]): string {
  const stats = paths.map((path) => statSync(path, { throwIfNoEntry: false }))
  return stats.map((each) => `${each?.dev}:${each?.ino}`).join(" ")
}

function isAlive({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}
