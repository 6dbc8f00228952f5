import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { makeFakeIoServer } from "../support/runner/io-server.ts"
import { ENDLESS, callRunner, listen, makeOrder, processesIn, waitFor } from "./harness.ts"
import { bury, setImmovable } from "./sandbox/tiers/obstacles.ts"
import { listSupportedTiers } from "../support/runner/supported-tiers.ts"

const logLine = z.looseObject({
  event: z.string(),
  time: z.iso.datetime(),
  port: z.int().optional(),
})
type LogLine = z.infer<typeof logLine>

const OTHER_UID = 23_456
const main = join(import.meta.dirname, "../../container/main.ts")
let io = makeFakeIoServer("a-very-secret-token")
let workDir: string
let worker: Awaited<ReturnType<typeof listen>>
let child: ChildProcess
let lines: LogLine[]

beforeEach(async () => {
  io = makeFakeIoServer("a-very-secret-token")
  workDir = await mkdtemp(join(tmpdir(), "lathe-test-"))
  worker = await listen({ fetch: (request) => io.fetch(request) })
})

afterEach(async () => {
  child.kill("SIGKILL")
  worker.close()
  await rm(workDir, { recursive: true, force: true })
})

function launch(more: Record<string, string>, stderr: "pipe" | "inherit"): ChildProcess {
  const environment = {
    RUNNER_PORT: "0",
    RUNNER_CAPACITY: "1",
    // Warm sandboxes have workspaces in the folder too.
    RUNNER_PLACES_MAX: "0",
    WORK_DIR: workDir,
    ANNOUNCE_URL: `${worker.origin}/io/announcement/reports`,
    ANNOUNCE_TOKEN: io.token,
    ...more,
  }
  return spawn(process.execPath, [main], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", stderr],
  })
}

async function start(more: Record<string, string> = {}): Promise<string> {
  child = launch(more, "inherit")
  lines = []
  if (!child.stdout) throw new Error("The runner has no stdout.")
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(logLine.parse(JSON.parse(line)))
  })
  const listening = await waitFor(() => lines.find(({ event }) => event === "runner.listening"))
  return `http://127.0.0.1:${listening.port}`
}

test("clears its work folder, announces itself, and interrupts its task on SIGTERM", async () => {
  const left = join(workDir, `${crypto.randomUUID()}.3`)
  await mkdir(join(left, "read-only"), { recursive: true, mode: 0o500 })
  await mkdir(join(workDir, "sockets-left"))
  await mkdir(join(workDir, "something-else"))
  const runner = await start()
  // The self-test of the sandbox briefly uses a workspace too.
  await expect.poll(() => readdir(workDir)).toEqual(["something-else"])
  await waitFor(() => io.requests.some(({ call }) => call === "POST /reports"))

  const order = makeOrder({ io, ioOrigin: worker.origin, commands: [ENDLESS] })
  expect((await callRunner(`${runner}/tasks`, "POST", order)).status).toBe(202)
  const started = await waitFor(() => lines.find(({ event }) => event === "process.started"))
  expect(started).toMatchObject({ tool: "ffmpeg", task_id: order.task_id, job_id: order.job_id })

  const beganMs = performance.now()
  child.kill("SIGTERM")
  expect(await once(child, "exit")).toEqual([0, null])
  expect(performance.now() - beganMs).toBeLessThan(10_000)
  expect(io.reports.at(-1)).toMatchObject({ kind: "interrupted" })
  expect(await processesIn(workDir)).toEqual([])
  expect(await readdir(workDir)).toEqual(["something-else"])
  expect(JSON.stringify(lines)).not.toContain(io.token)
})

/** Starts a runner with a task whose only output is not stored before `store` is called. */
async function startWithTask(more: Record<string, string>) {
  const runner = await start(more)
  const storing = Promise.withResolvers<null>()
  io.intercept = (call) => (call === "PUT /outputs/out_1" ? storing.promise : null)
  const commands = ["-f lavfi -i testsrc2=s=64x64:d=0.2 -c:v mpeg4 out.mp4".split(" ")]
  const order = makeOrder({ io, ioOrigin: worker.origin, commands })
  expect((await callRunner(`${runner}/tasks`, "POST", order)).status).toBe(202)
  await waitFor(() => io.requests.some(({ call }) => call === "PUT /outputs/out_1"))
  return { runner, order, store: () => storing.resolve(null) }
}

async function sendSigterm(): Promise<void> {
  const before = lines.filter(({ event }) => event === "runner.leaving").length
  child.kill("SIGTERM")
  await waitFor(() => lines.filter(({ event }) => event === "runner.leaving").length > before)
}

test("finishes its task after a SIGTERM within DRAIN_SECONDS_MAX, and accepts no other", async () => {
  const { runner, order, store } = await startWithTask({ DRAIN_SECONDS_MAX: "600" })
  await sendSigterm()
  await sendSigterm()
  const other = makeOrder({ io, ioOrigin: worker.origin, commands: [ENDLESS] })
  const refused = await callRunner(`${runner}/tasks`, "POST", other)
  expect([refused.status, await refused.json()]).toEqual([503, { error: "leaving" }])
  // A Worker that lost the response sends the order again.
  expect((await callRunner(`${runner}/tasks`, "POST", order)).status).toBe(202)
  const left = once(child, "exit")
  store()
  expect(await left).toEqual([0, null])
  expect(io.reports.at(-1)).toMatchObject({ kind: "finished" })
  expect(io.outputs.has("out_1")).toBe(true)
})

test("interrupts a task that has not ended DRAIN_SECONDS_MAX after a SIGTERM", async () => {
  await startWithTask({ DRAIN_SECONDS_MAX: "1" })
  child.kill("SIGTERM")
  expect(await once(child, "exit")).toEqual([0, null])
  expect(io.reports.at(-1)).toMatchObject({ kind: "interrupted" })
})

test("interrupts a draining task on SIGINT", async () => {
  await startWithTask({ DRAIN_SECONDS_MAX: "600" })
  await sendSigterm()
  child.kill("SIGINT")
  expect(await once(child, "exit")).toEqual([0, null])
  expect(io.reports.at(-1)).toMatchObject({ kind: "interrupted" })
})

test("starts beside workspaces that are deep, unreadable, or impossible to remove", async () => {
  const deep = join(workDir, `${crypto.randomUUID()}.1`)
  await mkdir(deep)
  await bury(deep, 30)
  await writeFile(Buffer.concat([Buffer.from(`${deep}/`), Buffer.from([0xff])]), "")
  await mkdir(join(deep, "unreadable"), { mode: 0 })
  const immovable = `${crypto.randomUUID()}.1`
  const file = join(workDir, immovable, "file")
  await mkdir(join(workDir, immovable))
  await writeFile(file, "")
  const isImmovable = await setImmovable(file, true)
  async function free(): Promise<void> {
    await setImmovable(file, false)
  }
  onTestFinished(free)

  const runner = await start()
  const left = isImmovable ? [immovable] : []
  await expect.poll(() => readdir(workDir)).toEqual(left)
  const commands = ["-f lavfi -i testsrc2=s=64x64:d=0.2 -c:v mpeg4 out.mp4".split(" ")]
  const order = makeOrder({ io, ioOrigin: worker.origin, commands })
  const posted = await callRunner(`${runner}/tasks`, "POST", order)
  expect(posted.status).toBe(202)
  const ended = await waitFor(() => io.reports.find(({ kind }) => kind === "finished"))
  expect(ended).toMatchObject({ kind: "finished" })
  await free()
  await expect.poll(() => readdir(workDir)).toEqual([])
})

test("refuses a non-loopback address without a token", async () => {
  child = launch({ RUNNER_HOST: "0.0.0.0" }, "pipe")
  if (!child.stderr) throw new Error("The runner has no stderr.")
  const [said, [exitCode]] = await Promise.all([text(child.stderr), once(child, "exit")])
  expect(exitCode).toBe(1)
  expect(said.trim()).toMatch(/^RUNNER_HOST is "0\.0\.0\.0", .* set RUNNER_TOKEN to .*\.$/)
})

test.runIf(process.getuid?.() === 0)(
  "refuses a work folder that another user may change, and removes nothing there",
  async () => {
    const left = join(workDir, `${crypto.randomUUID()}.1`)
    await mkdir(left)
    await chown(workDir, OTHER_UID, OTHER_UID)
    child = launch({}, "pipe")
    if (!child.stderr) throw new Error("The runner has no stderr.")
    const [said, [exitCode]] = await Promise.all([text(child.stderr), once(child, "exit")])
    expect(exitCode).toBe(1)
    expect(said.trim()).toMatch(
      new RegExp(`^${workDir} may be changed by user ${OTHER_UID}, .*: set WORK_DIR to .*\\.$`),
    )
    expect(existsSync(left)).toBe(true)
  },
)

test("exits after the maximum of failed self-tests, so that its container can be replaced", async ({
  skip,
}) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  child = launch({ FFMPEG_PATH: "/no/such/ffmpeg", SELF_TESTS_MAX: "2" }, "inherit")
  if (!child.stdout) throw new Error("The runner has no stdout.")
  const [said, [exitCode]] = await Promise.all([text(child.stdout), once(child, "exit")])
  expect(exitCode).toBe(1)
  expect(said).toContain("sandbox.given_up")
})
