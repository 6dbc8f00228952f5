import { Router } from "itty-router"
import { z } from "zod"
import { BOOT_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../src/contract/protocol.ts"
import { taskOrder } from "../src/contract/task.ts"
import type { TaskOrder } from "../src/contract/task.ts"
import { tokenCheck } from "./authorize.ts"
import type { RunnerSettings } from "./environment.ts"
import { log } from "./log.ts"
import { openRuns } from "./runs.ts"
import type { Runs } from "./runs.ts"
import { ownJail } from "./sandbox/sandbox.ts"
import type { Verdict } from "./sandbox/choose.ts"
import { readVersion } from "./tools/version.ts"

/** A runner without its port: it answers requests, and can be told to go. */
export type Runner = {
  fetch(request: Request): Promise<Response>
  /** Takes no more tasks and interrupts those it has; resolves when the Worker knows. */
  leave(): Promise<void>
}

type Routed = Request & { params: Record<string, string> }

const taskId = z.uuid()
const fenceNumber = z.coerce.number().int().positive()

/**
 * Makes the runner of a process; its routes are the runner's side of the protocol. It takes tasks
 * once the sandbox has been tried.
 */
export function makeRunner(settings: RunnerSettings, tried: Promise<Verdict>): Runner {
  const runs = openRuns(settings)
  let isLeaving = false
  const router = Router<Routed>({
    before: [tokenCheck(settings.token), checkProtocol],
    catch: fail,
    finally: [
      (answer: Response | undefined) => answer ?? refuse(404, "There is no such route."),
      withHeaders(settings.boot),
    ],
  })
    .post("/tasks", async (request) => {
      const { sandbox } = await tried
      if (isLeaving) return refuse(503, "leaving")
      if (!sandbox) return refuse(503, "unsandboxed")
      return await takeTask(request, (order) => runs.accept(order, sandbox), settings.boot)
    })
    .get("/tasks/:id", (request) => showTask(request, runs))
    .delete("/tasks/:id", (request) => killTask(request, runs))
    .get("/health", healthOf(runs, settings, tried))
  return {
    fetch: (request) => router.fetch(request),
    async leave() {
      isLeaving = true
      await runs.interruptAll()
    },
  }
}

async function takeTask(
  request: Routed,
  accept: (order: TaskOrder) => ReturnType<Runs["accept"]>,
  boot: string,
): Promise<Response> {
  const order = taskOrder.safeParse(await request.json().catch(() => null))
  if (!order.success) return refuse(400, z.prettifyError(order.error))
  const taken = accept(order.data)
  return taken === "accepted" ? Response.json({ boot }, { status: 202 }) : refuse(409, taken)
}

function showTask(request: Routed, runs: Runs): Response {
  const status = runs.find(request.params["id"] ?? "")
  if (!status) return refuse(404, "There is no such task here.")
  return Response.json({
    task_id: status.taskId,
    fence: status.fence,
    state: status.state,
    step: status.step,
    ...(status.processStartedAt !== null && { process_started_at: status.processStartedAt }),
  })
}

async function killTask(request: Routed, runs: Runs): Promise<Response> {
  const id = taskId.safeParse(request.params["id"])
  const fence = fenceNumber.safeParse(new URL(request.url).searchParams.get("fence"))
  if (!id.success || !fence.success) return refuse(400, "A task and a fence are needed.")
  return Response.json({ killed: await runs.kill(id.data, fence.data) })
}

/** Asks the tools for their versions when somebody first wants to know, not at start. */
function healthOf(runs: Runs, settings: RunnerSettings, tried: Promise<Verdict>) {
  const { boot, capacity } = settings
  let versions: Promise<string[]> | null = null
  return async (): Promise<Response> => {
    const verdict = await tried
    versions ??= readVersions(settings, verdict)
    const [ffmpeg, ffprobe] = await versions
    const running = runs.countRunning()
    const sandbox = verdict.test
    return Response.json({ status: "ok", boot, capacity, running, ffmpeg, ffprobe, sandbox })
  }
}

async function readVersions(
  { ffmpegPath, ffprobePath }: RunnerSettings,
  { sandbox }: Verdict,
): Promise<string[]> {
  const tools = [ffmpegPath, ffprobePath]
  if (!sandbox) return tools.map(() => "unavailable")
  return await Promise.all(tools.map((tool) => readVersion(tool, ownJail(sandbox))))
}

function refuse(status: number, error: string): Response {
  return Response.json({ error }, { status })
}

function checkProtocol(request: Request): Response | undefined {
  if (request.headers.get(PROTOCOL_HEADER) === PROTOCOL_VERSION) return undefined
  return refuse(426, `This runner speaks version ${PROTOCOL_VERSION} of the protocol.`)
}

function withHeaders(boot: string) {
  return (answer: Response): Response => {
    answer.headers.set(PROTOCOL_HEADER, PROTOCOL_VERSION)
    answer.headers.set(BOOT_HEADER, boot)
    return answer
  }
}

function fail(thrown: unknown): Response {
  log("request.error", { error: String(thrown) })
  return refuse(500, "The runner failed.")
}
