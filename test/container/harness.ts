import { execFile } from "node:child_process"
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { chooseSandbox } from "../../container/sandbox/tiers/choose-sandbox.ts"
import type { SandboxChoice } from "../../container/sandbox/tiers/choose-sandbox.ts"
import { toNodeRequestListener } from "../../container/server/node-adapter.ts"
import type { RequestHandler } from "../../container/server/node-adapter.ts"
import { createRunner } from "../../container/server/runner.ts"
import type { RunnerSettings } from "../../container/settings.ts"
import { FETCH_PYTHON_PATH } from "../../scripts/setup/yt-dlp.ts"
import { makeRunnerHeaders } from "../../src/contract/protocol.ts"
import type { OutputReport, Report } from "../../src/contract/report.ts"
import type { TaskOrder } from "../../src/contract/task.ts"
import { commandTaskDefinition } from "../../src/contract/tasks/command.ts"
import { makeFakeIoServer } from "../support/runner/io-server.ts"
import type { FakeIoServer } from "../support/runner/io-server.ts"
import { makeTestRunnerSettings } from "../support/runner/runner-settings.ts"

const run = promisify(execFile)

export type Harness = {
  io: FakeIoServer
  ioOrigin: string
  runnerOrigin: string
  settings: RunnerSettings
  call(method: string, path: string, body?: unknown): Promise<Response>
  /** Returns an order for `commands` with the I/O server's inputs; `differing` replaces fields. */
  order(commands: string[][], differing?: Partial<TaskOrder>): TaskOrder
  /** Posts an order and waits for its last report. */
  finish(order: TaskOrder): Promise<Report>
  /** Names of the workspaces that currently exist. */
  workspaces(): Promise<string[]>
  shutDown(): Promise<void>
  close(): Promise<void>
  /** Closes the harness; throws if a task has left its workspace. */
  closeClean(): Promise<void>
}

/** Sandbox choice, shared by all runners of a test file. */
let chosen: Promise<SandboxChoice> | null = null

function chooseOnce(settings: RunnerSettings): Promise<SandboxChoice> {
  chosen ??= chooseInOwnFolder(settings)
  return chosen
}

/** Chooses in a separate work folder: the first runner of a file may end before the choice does. */
async function chooseInOwnFolder(settings: RunnerSettings): Promise<SandboxChoice> {
  const workDir = await mkdtemp(join(tmpdir(), "lathe-test-"))
  const choice = await chooseSandbox({ ...settings, workDir })
  await rm(workDir, { recursive: true })
  return choice
}

/** Starts a runner and a stand-in for the Worker, each on its own port. */
export async function startHarness(
  differing: Partial<RunnerSettings> = {},
  choice?: SandboxChoice,
): Promise<Harness> {
  const workDir = await mkdtemp(join(tmpdir(), "lathe-test-"))
  const settings = {
    ...makeTestRunnerSettings({ FETCH_PYTHON_PATH }),
    capacity: 2,
    // Without warm sandboxes, all workspaces belong to tasks.
    warmSandboxesMax: 0,
    workDir,
    ...differing,
  }
  const io = makeFakeIoServer("a-token")
  const choosing = choice ? Promise.resolve(choice) : chooseOnce(settings)
  const runner = createRunner(settings, () => choosing)
  const ioServer = await listen({ fetch: (request) => io.fetch(request) })
  const server = await listen(runner)
  const harness: Harness = {
    io,
    ioOrigin: ioServer.origin,
    runnerOrigin: server.origin,
    settings,
    call: (method, path, body) => callRunner(server.origin + path, method, body, settings.token),
    order: (commands, more) => makeOrder({ io, ioOrigin: ioServer.origin, commands, more }),
    async finish(order) {
      const answer = await harness.call("POST", "/tasks", order)
      if (answer.status !== 202) throw new Error(`The runner answered ${answer.status}.`)
      return await waitFor(() => io.reports.find(isLast))
    },
    workspaces: () => readdir(workDir),
    shutDown: () => runner.shutDown(),
    async close() {
      await runner.shutDown()
      ioServer.close()
      server.close()
      await rm(workDir, { recursive: true, force: true })
    },
    async closeClean() {
      const left = await harness.workspaces()
      await harness.close()
      if (left.length > 0) throw new Error(`A workspace was left: ${left.join(", ")}.`)
    },
  }
  return harness
}

/** Returns the outputs in the result of a command task; empty for other reports. */
export function commandOutputs(report: Report): OutputReport[] {
  return report.kind === "finished" ? commandTaskDefinition.result.parse(report.result).outputs : []
}

/** Calls a runner with its protocol. */
export function callRunner(
  url: string,
  method: string,
  body?: unknown,
  token: string | null = null,
): Promise<Response> {
  return fetch(url, {
    method,
    headers: makeRunnerHeaders(token),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

export function makeOrder(of: {
  io: FakeIoServer
  ioOrigin: string
  commands: string[][]
  more?: Partial<TaskOrder> | undefined
}): TaskOrder {
  const taskId = crypto.randomUUID()
  return {
    task_id: taskId,
    job_id: crypto.randomUUID(),
    fence: 1,
    slot: `slot-${taskId}`,
    allocation: 1,
    io: { origin: `${of.ioOrigin}/io/${taskId}`, token: of.io.token },
    inputs: Array.from(of.io.inputs, ([key, { length }]) => ({
      key,
      name: `${key}.mp4`,
      size_bytes: length,
    })),
    work: {
      kind: "command",
      commands: of.commands,
      outputs: [{ key: "out_1", name: "out.mp4" }],
      run_seconds_max: 60,
    },
    ...of.more,
  }
}

/** Serves a handler of web requests on a loopback port. */
export async function listen(handler: Pick<RequestHandler, "fetch"> & Partial<RequestHandler>) {
  const server = createServer(
    toNodeRequestListener({ refuseByHeaders: () => undefined, ...handler }),
  )
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const address = server.address()
  const port = typeof address === "object" ? address?.port : 0
  function close(): void {
    server.close()
    server.closeAllConnections()
  }
  return { origin: `http://127.0.0.1:${port}`, close }
}

/** Polls until there is a value; throws after `seconds`. */
export async function waitFor<Value>(
  ask: () => Value | undefined | null | false | Promise<Value | undefined | null | false>,
  seconds = 90,
): Promise<Value> {
  const untilMs = performance.now() + seconds * 1000
  while (performance.now() < untilMs) {
    const value = await ask()
    if (value !== undefined && value !== null && value !== false) return value
    await sleep(20)
  }
  throw new Error(`It did not happen within ${seconds} seconds.`)
}

/** Returns two seconds of a small picture and a tone, as an MP4. */
export async function makeVideo(size = "128x72"): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), "lathe-media-"))
  const commandLine = `-v error -f lavfi -i testsrc2=size=${size}:rate=10:duration=2 -f lavfi -i sine=d=2`
  await run("ffmpeg", [...commandLine.split(" "), "-shortest", "in.mp4"], { cwd: folder })
  const bytes = new Uint8Array(await readFile(join(folder, "in.mp4")))
  await rm(folder, { recursive: true })
  return bytes
}

/** Returns the process ids of tools that work in a folder or below it. */
export async function processesIn(folder: string): Promise<number[]> {
  const { stdout } = await run("sh", ["-c", `ls -l /proc/[0-9]*/cwd 2>/dev/null || true`])
  return Array.from(stdout.matchAll(/\/proc\/(\d+)\/cwd -> (.*)$/gm))
    .filter(([, , cwd]) => cwd?.startsWith(folder))
    .map(([, pid]) => Number(pid))
}

/** Arguments of a command that runs until it is killed. */
export const ENDLESS = "-re -f lavfi -i testsrc2=size=64x36:rate=10 -c:v mpeg4 out.mp4".split(" ")

function isLast({ kind }: Report): boolean {
  return kind === "finished" || kind === "failed" || kind === "interrupted"
}
