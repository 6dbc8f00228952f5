import { createHash, timingSafeEqual } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { Router } from "itty-router"
import { z } from "zod"
import {
  RUNNER_BOOT_ID_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  UNSANDBOXED_ERROR_CODE,
  YTDLP_STATE_HEADER,
} from "../../src/contract/protocol.ts"
import { taskOrderSchema } from "../../src/contract/task.ts"
import { log } from "../log.ts"
import type { SandboxChoiceGetter } from "../sandbox/tiers/retry-sandbox.ts"
import { createWarmSandboxPool } from "../sandbox/warm/warm-sandbox-pool.ts"
import type { RunnerSettings } from "../settings.ts"
import { parseTask } from "../tasks/registry.ts"
import { getSpeechWorkerPool } from "../tools/whisper/speech-worker-pool.ts"
import { getYtdlpUpdateHealth } from "../tools/ytdlp/ytdlp-update.ts"
import { createHealthHandler } from "./health.ts"
import type { RequestHandler } from "./node-adapter.ts"
import type { ParsedTaskOrder } from "./run-task.ts"
import { createTaskRunManager } from "./task-runs.ts"
import type { TaskRunManager } from "./task-runs.ts"

/** Runner as a request handler that is not bound to a port. */
export type Runner = RequestHandler & {
  /**
   * Refuses new tasks from now on. Resolves when the running tasks have sent their last reports, or
   * after `ms` milliseconds.
   */
  drain(ms: number): Promise<void>
  /**
   * Refuses new tasks from now on, and interrupts the running tasks. Resolves when each running
   * task has sent its last report.
   */
  shutDown(): Promise<void>
}

type RoutedRequest = Request & { params: Record<string, string> }

const taskId = z.uuid()
const fenceNumber = z.coerce.number().int().positive()

/**
 * Creates a runner, whose routes implement the runner's side of the protocol between Worker and
 * runner. The runner accepts tasks only while it has a sandbox.
 */
export function createRunner(settings: RunnerSettings, latestChoice: SandboxChoiceGetter): Runner {
  const warmPool = createWarmSandboxPool(settings)
  const runs = createTaskRunManager(settings, warmPool)
  void latestChoice().then(({ sandbox }) => sandbox && warmPool.open(sandbox))
  const refuseByHeaders = createTokenCheck(settings.token)
  const router = Router<RoutedRequest>({
    before: [(request: Request) => refuseByHeaders(request.headers), checkProtocol],
    catch: toServerError,
    finally: [
      (response: Response | undefined) => response ?? refuse(404, "There is no such route."),
      withHeaders(settings.boot),
    ],
  })
    .post("/tasks", async (request) => {
      const { sandbox } = await latestChoice()
      if (!sandbox) return refuse(503, UNSANDBOXED_ERROR_CODE)
      return await acceptTask(request, (task) => runs.accept(task, sandbox), settings.boot)
    })
    .get("/tasks/:id", (request) => showTask(request, runs))
    .delete("/tasks/:id", (request) => killTask(request, runs))
    .get("/health", createHealthHandler(runs, settings, latestChoice))
  return {
    refuseByHeaders,
    fetch: (request) => router.fetch(request),
    async drain(ms) {
      runs.leave()
      await Promise.race([runs.ended(), sleep(ms, undefined, { ref: false })])
    },
    async shutDown() {
      runs.leave()
      await Promise.all([runs.interruptAll(), warmPool.close()])
      await getSpeechWorkerPool(settings).close()
    },
  }
}

const REFUSALS = { "no room": 507, leaving: 503, stale: 409, busy: 409, implausible: 409 } as const

async function acceptTask(
  request: RoutedRequest,
  accept: (task: ParsedTaskOrder) => ReturnType<TaskRunManager["accept"]>,
  boot: string,
): Promise<Response> {
  const order = taskOrderSchema.safeParse(await request.json().catch(() => null))
  if (!order.success) return refuse(400, z.prettifyError(order.error))
  const task = parseTask(order.data.work)
  if ("error" in task) return refuse(400, task.error)
  const answer = await accept({ order: order.data, ...task })
  if (answer === "accepted") return Response.json({ boot }, { status: 202 })
  return refuse(REFUSALS[answer], answer)
}

function showTask(request: RoutedRequest, runs: TaskRunManager): Response {
  const status = runs.find(request.params["id"] ?? "")
  if (!status) return refuse(404, "This runner has no such task.")
  return Response.json({
    task_id: status.taskId,
    fence: status.fence,
    state: status.state,
    phase: status.phase,
    ...(status.processStartedAt !== null && { process_started_at: status.processStartedAt }),
  })
}

async function killTask(request: RoutedRequest, runs: TaskRunManager): Promise<Response> {
  const id = taskId.safeParse(request.params["id"])
  const fence = fenceNumber.safeParse(new URL(request.url).searchParams.get("fence"))
  if (!id.success || !fence.success) return refuse(400, "The task id and the fence are required.")
  return Response.json({ killed: await runs.kill(id.data, fence.data) })
}

function refuse(status: number, error: string): Response {
  return Response.json({ error }, { status })
}

/**
 * Returns a function that answers 401 to requests without the bearer token. If `token` is null, all
 * requests pass.
 */
function createTokenCheck(token: string | null): (headers: Headers) => Response | undefined {
  if (token === null) return () => undefined
  const expected = digestOf(`Bearer ${token}`)
  return (headers) => {
    const actual = digestOf(headers.get("authorization") ?? "")
    if (timingSafeEqual(actual, expected)) return undefined
    return Response.json({ error: "token" }, { status: 401 })
  }
}

/**
 * Returns the SHA-256 digest of a text. Comparing digests hides the length of the token, and
 * timingSafeEqual requires values of equal length.
 */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}

function checkProtocol(request: Request): Response | undefined {
  if (request.headers.get(PROTOCOL_HEADER) === PROTOCOL_VERSION) return undefined
  return refuse(426, `This runner supports version ${PROTOCOL_VERSION} of the protocol.`)
}

function withHeaders(boot: string) {
  return (response: Response): Response => {
    response.headers.set(PROTOCOL_HEADER, PROTOCOL_VERSION)
    response.headers.set(RUNNER_BOOT_ID_HEADER, boot)
    const ytdlp = getYtdlpUpdateHealth()
    if (ytdlp) response.headers.set(YTDLP_STATE_HEADER, ytdlp.state)
    return response
  }
}

function toServerError(thrown: unknown): Response {
  log("error", "request.error", { error: String(thrown) })
  return refuse(500, "The runner failed.")
}
