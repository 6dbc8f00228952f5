import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createTierSandbox } from "../../../container/sandbox/tiers/choose-sandbox.ts"
import type { ToolProcessSpec } from "../../../container/sandbox/tool-process.ts"
import { createSandboxWithoutTask } from "../../../container/sandbox/sandbox.ts"
import { startToolProcess } from "../../../container/sandbox/start-process.ts"
import { toRunnerSettings, parseRunnerEnvironment } from "../../../container/settings.ts"
import { processesIn } from "../harness.ts"

/** No sandbox: a shell needs calls that a sandbox refuses. */
const bare = {
  taskSandbox: createSandboxWithoutTask(
    createTierSandbox("none", toRunnerSettings(parseRunnerEnvironment({}))),
  ),
  access: "write" as const,
}
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-test-"))
})

afterEach(() => rm(folder, { recursive: true }))

function runShell(script: string, differing: Partial<ToolProcessSpec> = {}) {
  const { signal } = new AbortController()
  const order = { tool: "sh", argv: ["-c", script], cwd: folder, timeLimitMs: 10_000, signal }
  return startToolProcess({ ...bare, ...order, stdoutBytesMax: 1000, ...differing })
}

test("a process gets a minimal environment and unchanged arguments", async () => {
  const end = await startToolProcess({
    ...bare,
    tool: "sh",
    argv: ["-c", 'printf "%s\\n" "$1"; env | cut -d= -f1 | sort', "sh", "$HOME `id` *"],
    cwd: folder,
    timeLimitMs: 10_000,
    signal: new AbortController().signal,
    stdoutBytesMax: 1000,
  }).finished
  const [argument, ...names] = end.stdout.trim().split("\n")
  expect(argument).toBe("$HOME `id` *")
  expect(names).toEqual(["HOME", "LANG", "PATH", "PWD", "TMPDIR"])
})

test("the result has the exit code, the head of stdout and the tail of stderr", async () => {
  const script = "yes | head -c 5000; yes error | head -c 200000 >&2; echo last >&2; exit 3"
  const end = await runShell(script).finished
  expect(end).toMatchObject({ exitCode: 3, signal: null, cause: null })
  expect(end.stdout).toHaveLength(1000)
  expect(end.stderrTail).toHaveLength(64 * 1024)
  expect(end.stderrTail).toMatch(/last\n$/)
})

test("descriptor 3 is read line by line", async () => {
  const lines: string[] = []
  await runShell("echo one >&3; echo two >&3", { onProgressLine: (line) => lines.push(line) })
    .finished
  expect(lines).toEqual(["one", "two"])
})

test.for([
  ["stderr", ">&2"],
  ["descriptor 3", ">&3"],
])("an endless line on %s ends its process at the limit", async ([, where]) => {
  let longest = 0
  function note(line: string): void {
    longest = Math.max(longest, line.length)
  }
  const script = `head -c 600000000 /dev/zero ${where}; echo survived`
  const end = await runShell(script, { onStderrLine: note, onProgressLine: note }).finished
  expect(end).toMatchObject({ cause: "output_limit", signal: "SIGKILL", stdout: "" })
  expect(longest).toBe(64 * 1024)
})

test("a group that ignores SIGTERM is killed, and the first cause counts", async () => {
  const abort = new AbortController()
  const script = "trap '' TERM; (trap '' TERM; sleep 20) & sleep 20"
  const started = runShell(script, { signal: abort.signal, timeLimitMs: 1300 })
  setTimeout(() => abort.abort(), 200)
  expect(await started.finished).toMatchObject({
    exitCode: null,
    signal: "SIGKILL",
    cause: "aborted",
  })
  expect(await processesIn(folder)).toEqual([])
})

test("leftover processes of the group are killed", async () => {
  const end = await runShell("sleep 20 & exit 0").finished
  expect(end).toMatchObject({ exitCode: 0, cause: null })
  expect(end.wallMs).toBeLessThan(5000)
  expect(await processesIn(folder)).toEqual([])
})

test("a missing tool is distinguished from a failed tool", async () => {
  const started = runShell("", { tool: "no-such-tool" })
  expect(await started.finished).toMatchObject({ cause: "spawn_failed", exitCode: null })
})
