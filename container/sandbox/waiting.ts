import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { statSync } from "node:fs"
import { openMeter } from "./meter.ts"
import { isReadable } from "./output.ts"
import { REPORT_FD, visiblePaths, waitingArgv } from "./sandbox.ts"
import type { Launch, WaitingForm, WaitingSandbox } from "./sandbox.ts"
import { killGroup, trackGroup, untrackGroup } from "./termination.ts"

/** The longest order that a launcher accepts: see container/launcher/order.c. */
const ORDER_BYTES_MAX = 1024 ** 2
const LENGTH_BYTES = 4
const READY_MS_MAX = 30_000

/** Makes the sandbox of a launch, whose argv and limits come with the order. */
export function startWaiting(launch: Launch, form: WaitingForm): WaitingSandbox {
  const { cwd, access, taskSandbox } = launch
  const { tier, limits } = taskSandbox.sandbox
  const paths = visiblePaths(launch, form)
  const identity = identify(paths)
  const [program, ...argv] = waitingArgv(launch, form)
  const stdio = ["pipe", "pipe", "pipe", "pipe"] as const
  const child = spawn(program, argv, { cwd, detached: true, env: {}, stdio: [...stdio] })
  trackGroup(child)
  const meter = access === "write" ? openMeter(tier, cwd, limits.workspaceFiles) : null
  const ready = Promise.withResolvers<boolean>()
  // A program that nothing holds may do something else for ever.
  const patience = setTimeout(() => killGroup(child, "SIGKILL"), READY_MS_MAX)
  const gone = Promise.withResolvers<void>()
  let state: "starting" | "waiting" | "ordered" | "begun" | "ended" = "starting"
  function end(): void {
    if (state !== "begun") state = "ended"
    clearTimeout(patience)
    untrackGroup(child)
    ready.resolve(false)
    gone.resolve()
  }
  function readReport(chunk: Buffer): void {
    if (state === "starting") state = "waiting"
    clearTimeout(patience)
    ready.resolve(true)
    if (state !== "ordered" || !chunk.includes("\n")) return
    state = "begun"
    child.stdio[REPORT_FD]?.off("data", readReport)
  }
  const report = child.stdio[REPORT_FD]
  if (isReadable(report)) report.on("data", readReport)
  // One that has ended takes no order, and its end tells that.
  child.stdin?.on("error", () => undefined)
  child.once("error", end).once("close", end)
  return {
    child,
    meter,
    ready: ready.promise,
    serves(other) {
      const isSame = isSameSandbox(launch, other) && identify(paths) === identity
      return state === "waiting" && isAlive(child) && isSame
    },
    give(order) {
      state = "ordered"
      child.stdin?.end(order)
    },
    hasBegun: () => state === "begun",
    async giveUp() {
      meter?.close()
      if (isAlive(child)) killGroup(child, "SIGKILL")
      await gone.promise
    },
  }
}

/** An order in the launcher's form; null where it has none, and only a cold start can say why. */
export function encodeOrder(words: readonly string[]): Buffer | null {
  if (words.some((word) => word.includes("\0"))) return null
  const text = Buffer.from(words.map((word) => `${word}\0`).join(""))
  if (text.length > ORDER_BYTES_MAX) return null
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(text.length)
  return Buffer.concat([length, text])
}

/** Whether two launches differ only in what comes with the order. */
function isSameSandbox(one: Launch, other: Launch): boolean {
  const { network, mayFork, run, read } = other
  const isPlain = network === undefined && mayFork !== true && !run?.length && !read?.length
  const { sandbox, uid } = other.taskSandbox
  const hasSameUser = one.taskSandbox.sandbox === sandbox && one.taskSandbox.uid === uid
  const isSameTool = one.tool === other.tool && one.access === other.access
  return isPlain && hasSameUser && isSameTool && one.cwd === other.cwd
}

/** Which files a tool is shown, so that one that was replaced since is noticed. */
function identify(paths: readonly string[]): string {
  const stats = paths.map((path) => statSync(path, { throwIfNoEntry: false }))
  return stats.map((each) => `${each?.dev}:${each?.ino}`).join(" ")
}

function isAlive({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}
