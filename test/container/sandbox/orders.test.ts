import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { describeSandbox } from "../../../container/sandbox/choose.ts"
import { PROGRAMS } from "../../../container/sandbox/programs.ts"
import { waitingArgv } from "../../../container/sandbox/sandbox.ts"
import type { Place, TaskSandbox, WaitingForm } from "../../../container/sandbox/sandbox.ts"
import { closeTaskSandbox, prepareTaskSandbox } from "../../../container/sandbox/task-sandbox.ts"
import { encodeOrder } from "../../../container/sandbox/waiting.ts"
import { runnerSettings } from "../../support/runner-settings.ts"
import { tierWithNamespaces } from "../../support/supported-tiers.ts"

const tier = await tierWithNamespaces()
const LIST = "/bin/ls"
const READER = { tool: LIST, access: "read" as const }

let workDir: string
let prepared: TaskSandbox & { place: Place }

beforeEach(async ({ skip }) => {
  skip(tier === undefined, "this machine does not support namespaces")
  workDir = await mkdtemp(join(tmpdir(), "lathe-orders-"))
  await chmod(workDir, 0o711)
  const sandbox = describeSandbox(tier ?? "none", runnerSettings())
  prepared = await prepareTaskSandbox(sandbox, workDir, [], "launcher")
})

afterEach(async () => {
  if (tier === undefined) return
  await closeTaskSandbox(prepared, null)
  await rm(workDir, { recursive: true })
})

/** What is answered to these bytes on its stdin, in the sandbox of the place's reading tool. */
async function sendOrder(bytes: Buffer, form: WaitingForm) {
  const { folder } = prepared.place
  const launch = { taskSandbox: prepared, cwd: folder, argv: [], timeLimitMs: 0, ...READER }
  const [program, ...argv] = waitingArgv(launch, form)
  const child = spawn(program, argv, { cwd: folder, stdio: ["pipe", "pipe", "pipe", "pipe"] })
  let text = ""
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()))
  child.stderr?.on("data", (chunk: Buffer) => (text += chunk.toString()))
  child.stdin?.on("error", () => undefined).end(bytes)
  await once(child, "close")
  return { exitCode: child.exitCode, text }
}

function orderOf(...words: string[]): Buffer {
  return encodeOrder(words) ?? Buffer.alloc(0)
}

describe.for(["launcher", "tool"] as const)("a %s that waits", (form) => {
  const held = tier === "mounts" ? ["--mounted"] : []
  const least = [...held, "--memory", "1000000000", "--run", LIST, "--read", "/usr", "--"]
  const length = Buffer.alloc(4)

  test.for<[string, () => Buffer, RegExp]>([
    ["no order", () => Buffer.alloc(0), /the order/],
    ["a part of an order", () => orderOf("--", LIST).subarray(0, -3), /the order/],
    ["an empty order", () => length, /the order/],
    ["an order that is too long", () => Buffer.alloc(8, 0xff), /the order/],
    ["an order without an end", () => Buffer.from("\x02\0\0\0ab"), /the order/],
    ["an order without a program", () => orderOf("--memory", "1"), /no program/],
    ["an unknown word", () => orderOf("--all", "1", "--", LIST), /--all/],
    ["a user", () => orderOf("--uid", "0", "--", LIST), /the order/],
    ["another order", () => orderOf("--wait"), /the order/],
    ["another sandbox", () => orderOf("--outer", "--", LIST), /the order/],
    ["a fork", () => orderOf("--fork", "--", LIST), /the order/],
    ["a network", () => orderOf("--connect", "/tmp/socket", "--", LIST), /the order/],
    ["another descriptor", () => orderOf("--keep-fd", "0", "--", LIST), /the order/],
    ["a path outside", () => orderOf("--read", PROGRAMS.attack, ...least, LIST), /attack/],
    ["a program outside", () => orderOf("--run", "/bin/cp", ...least, "/bin/cp"), /\/bin\/cp/],
  ])("starts nothing on %s", async ([, order, reason]) => {
    const end = await sendOrder(order(), form)
    expect(end.exitCode).toBe(126)
    expect(end.text).toMatch(/^launcher: /)
    expect(end.text).toMatch(reason)
  })
})
