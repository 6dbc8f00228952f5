import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createTierSandbox } from "../../../container/sandbox/tiers/choose-sandbox.ts"
import { LAUNCHER_PROGRAMS } from "../../../container/sandbox/launcher-programs.ts"
import { heldProcessArgv } from "../../../container/sandbox/sandbox.ts"
import type {
  WarmSandbox,
  TaskSandbox,
  WaitingProcessKind,
} from "../../../container/sandbox/sandbox.ts"
import {
  destroyTaskSandbox,
  createWarmTaskSandbox,
} from "../../../container/sandbox/task-sandbox.ts"
import { encodeLaunchOrder } from "../../../container/sandbox/warm/held-process.ts"
import { makeTestRunnerSettings } from "../../support/runner/runner-settings.ts"
import { findTierWithNamespaces } from "../../support/runner/supported-tiers.ts"

const tier = await findTierWithNamespaces()
const LIST = "/bin/ls"
const READER = { tool: LIST, access: "read" as const }

let workDir: string
let prepared: TaskSandbox & { warmSandbox: WarmSandbox }

beforeEach(async ({ skip }) => {
  skip(tier === undefined, "this machine does not support namespaces")
  workDir = await mkdtemp(join(tmpdir(), "lathe-orders-"))
  await chmod(workDir, 0o711)
  const sandbox = createTierSandbox(tier ?? "none", makeTestRunnerSettings())
  prepared = await createWarmTaskSandbox(sandbox, workDir, [], "launcher")
})

afterEach(async () => {
  if (tier === undefined) return
  await destroyTaskSandbox(prepared, null)
  await rm(workDir, { recursive: true })
})

/** Sends bytes to the held process of the reading tool; returns its output. */
async function sendOrder(bytes: Buffer, form: WaitingProcessKind) {
  const { folder } = prepared.warmSandbox
  const launch = { taskSandbox: prepared, cwd: folder, argv: [], timeLimitMs: 0, ...READER }
  const [program, ...argv] = heldProcessArgv(launch, form)
  const child = spawn(program, argv, { cwd: folder, stdio: ["pipe", "pipe", "pipe", "pipe"] })
  let text = ""
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()))
  child.stderr?.on("data", (chunk: Buffer) => (text += chunk.toString()))
  child.stdin?.on("error", () => undefined).end(bytes)
  await once(child, "close")
  return { exitCode: child.exitCode, text }
}

function orderOf(...words: string[]): Buffer {
  return encodeLaunchOrder(words) ?? Buffer.alloc(0)
}

describe.for(["launcher", "tool"] as const)("a waiting %s", (form) => {
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
    ["a path outside", () => orderOf("--read", LAUNCHER_PROGRAMS.attack, ...least, LIST), /attack/],
    ["a program outside", () => orderOf("--run", "/bin/cp", ...least, "/bin/cp"), /\/bin\/cp/],
  ])("starts nothing on %s", async ([, order, reason]) => {
    const end = await sendOrder(order(), form)
    expect(end.exitCode).toBe(126)
    expect(end.text).toMatch(/^launcher: /)
    expect(end.text).toMatch(reason)
  })
})
