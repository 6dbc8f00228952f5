import { createHash, timingSafeEqual } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { Router } from "itty-router"
import { z } from "zod"
import {
  BOOT_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  UNSANDBOXED,
  YTDLP_HEADER,
} from "../../src/contract/protocol.ts"
import { taskOrder } from "../../src/contract/task.ts"
import { log } from "../log.ts"
import type { LatestChoice } from "../sandbox/keep-choosing.ts"
import { openPlaces } from "../sandbox/places.ts"
import type { RunnerSettings } from "../settings.ts"
import { parseTask } from "../tasks/registry.ts"
import { speechWorkersOf } from "../tools/whisper/workers.ts"
import { ytdlpHealth } from "../tools/ytdlp/version.ts"
import { healthHandler } from "./health.ts"
import type { Handler } from "./http-adapter.ts"
import type { AcceptedTask } from "./run-task.ts"
import { openRuns } from "./runs.ts"
import type { Runs } from "./runs.ts"

/** A runner without its port. */
export type Runner = Handler & {
  /** Accepts no more tasks; resolves when the running ones have reported their ends, or after `ms`. */
  drain(ms: number): Promise<void>
  /** Accepts no more tasks and interrupts the running ones; resolves when that is reported. */
  shutDown(): Promise<void>
}

type RoutedRequest = Request & { params: Record<string, string> }

const taskId = z.uuid()
const fenceNumber = z.coerce.number().int().positive()

/**
 * Makes the runner of a process; its routes are the runner's side of the protocol. It accepts tasks
 * while there is a sandbox.
 */
export function makeRunner(settings: RunnerSettings, latestChoice: LatestChoice): Runner {
  const places = openPlaces(settings)
  const runs = openRuns(settings, places)
  void latestChoice().then(({ sandbox }) => sandbox && places.open(sandbox))
  const refuseHead = tokenCheck(settings.token)
  const router = Router<RoutedRequest>({
    before: [(request: Request) => refuseHead(request.headers), checkProtocol],
    catch: toServerError,
    finally: [
      (response: Response | undefined) => response ?? refuse(404, "There is no such route."),
      withHeaders(settings.boot),
    ],
  })
    .post("/tasks", async (request) => {
      const { sandbox } = await latestChoice()
      if (!sandbox) return refuse(503, UNSANDBOXED)
      return await acceptTask(request, (task) => runs.accept(task, sandbox), settings.boot)
    })
    .get("/tasks/:id", (request) => showTask(request, runs))
    .delete("/tasks/:id", (request) => killTask(request, runs))
    .get("/health", healthHandler(runs, settings, latestChoice))
  return {
    refuseHead,
    fetch: (request) => router.fetch(request),
    async drain(ms) {
      runs.leave()
      await Promise.race([runs.ended(), sleep(ms, undefined, { ref: false })])
    },
    async shutDown() {
      runs.leave()
      await Promise.all([runs.interruptAll(), places.close()])
      await speechWorkersOf(settings).close()
    },
  }
}

const REFUSALS = { "no room": 507, leaving: 503, stale: 409, busy: 409, implausible: 409 } as const

async function acceptTask(
  request: RoutedRequest,
  accept: (task: AcceptedTask) => ReturnType<Runs["accept"]>,
  boot: string,
): Promise<Response> {
  const order = taskOrder.safeParse(await request.json().catch(() => null))
  if (!order.success) return refuse(400, z.prettifyError(order.error))
  const task = parseTask(order.data.work)
  if ("error" in task) return refuse(400, task.error)
  const answer = await accept({ order: order.data, ...task })
  if (answer === "accepted") return Response.json({ boot }, { status: 202 })
  return refuse(REFUSALS[answer], answer)
}

function showTask(request: RoutedRequest, runs: Runs): Response {
  const status = runs.find(request.params["id"] ?? "")
  if (!status) return refuse(404, "There is no such task here.")
  return Response.json({
    task_id: status.taskId,
    fence: status.fence,
    state: status.state,
    phase: status.phase,
    ...(status.processStartedAt !== null && { process_started_at: status.processStartedAt }),
  })
}

async function killTask(request: RoutedRequest, runs: Runs): Promise<Response> {
  const id = taskId.safeParse(request.params["id"])
  const fence = fenceNumber.safeParse(new URL(request.url).searchParams.get("fence"))
  if (!id.success || !fence.success) return refuse(400, "A task and a fence are needed.")
  return Response.json({ killed: await runs.kill(id.data, fence.data) })
}

function refuse(status: number, error: string): Response {
  return Response.json({ error }, { status })
}

/** Makes a check that answers 401 to requests without the token; null accepts all requests. */
function tokenCheck(token: string | null): (headers: Headers) => Response | undefined {
  if (token === null) return () => undefined
  const expected = digestOf(`Bearer ${token}`)
  return (headers) => {
    const given = digestOf(headers.get("authorization") ?? "")
    if (timingSafeEqual(given, expected)) return undefined
    return Response.json({ error: "token" }, { status: 401 })
  }
}

/** A digest has the same length for any text, which timingSafeEqual needs. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}

function checkProtocol(request: Request): Response | undefined {
  if (request.headers.get(PROTOCOL_HEADER) === PROTOCOL_VERSION) return undefined
  return refuse(426, `This runner speaks version ${PROTOCOL_VERSION} of the protocol.`)
}

function withHeaders(boot: string) {
  return (response: Response): Response => {
    response.headers.set(PROTOCOL_HEADER, PROTOCOL_VERSION)
    response.headers.set(BOOT_HEADER, boot)
    const ytdlp = ytdlpHealth()
    if (ytdlp) response.headers.set(YTDLP_HEADER, ytdlp.state)
    return response
  }
}

function toServerError(thrown: unknown): Response {
  log("error", "request.error", { error: String(thrown) })
  return refuse(500, "The runner failed.")
}
