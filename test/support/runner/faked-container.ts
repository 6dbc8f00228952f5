import { env } from "cloudflare:workers"
import { RUNNER_BOOT_ID_HEADER, YTDLP_STATE_HEADER } from "../../../src/contract/protocol.ts"
import type { TaskOrder } from "../../../src/contract/task.ts"
import type { Env } from "../../../src/bindings/env.ts"
import { newId } from "../../../src/platform/ids.ts"
import { makeTaskToken } from "../../../src/runner/task-token.ts"

/** Request that a fake container received. */
export type ContainerRequest = { method: string; url: string; authorization: string | null }

/** State and behavior of a fake container, because tests have no containers. */
export type FakedContainer = {
  running: boolean
  hasSandbox: boolean
  /** Error message that `start` of the container throws, or null. */
  startProblem: string | null
  tokens: string[]
  /** Environment variables of the last start. */
  environment: Record<string, string>
  /** Value of the header in the container's responses that reports the state of yt-dlp. */
  ytdlp: string
  /**
   * Message of the error with which Cloudflare stops the container after `start` has returned, or
   * null.
   */
  refusal: string | null
  /** Number of the next calls of `destroy` that fail. */
  endsFailing: number
  /** Signals that the container received. The first signal stops the container. */
  signals: number[]
  /**
   * Status of the container's response to DELETE, which kills a run. With null, the container
   * responds like a runner on which the task runs.
   */
  killStatus: number | null
  asked: ContainerRequest[]
  wanted: string | null
}

export function makeFakedContainer(): FakedContainer {
  return {
    running: false,
    hasSandbox: true,
    startProblem: null,
    tokens: [],
    environment: {},
    ytdlp: "installing",
    refusal: null,
    endsFailing: 0,
    signals: [],
    killStatus: null,
    asked: [],
    wanted: null,
  }
}

/**
 * Replaces the container of a Durable Object by a fake container, which requires the token that it
 * got at its start.
 */
export function setFakedContainer(
  ctx: DurableObjectState,
  own: FakedContainer,
): asserts ctx is DurableObjectState<object> {
  Object.defineProperty(ctx, "container", { value: fakeContainer(own), configurable: true })
}

function fakeContainer(own: FakedContainer) {
  const stopped = Promise.withResolvers<void>()
  return {
    get running() {
      return own.running
    },
    start({ env: given }: { env: Record<string, string> }) {
      if (own.startProblem !== null) throw new Error(own.startProblem)
      own.running = true
      own.environment = given
      own.wanted = given["RUNNER_TOKEN"] ?? ""
      own.tokens.push(own.wanted)
      if (own.refusal !== null) own.running = false
    },
    monitor: () => (own.refusal === null ? stopped.promise : refused(own.refusal)),
    signal(number: number) {
      own.signals.push(number)
      own.running = false
      stopped.resolve()
    },
    async destroy() {
      own.endsFailing -= 1
      if (own.endsFailing >= 0) throw new Error("it could not be ended")
      own.running = false
      stopped.resolve()
    },
    async interceptOutboundHttp() {},
    async interceptAllOutboundHttp() {},
    getTcpPort: () => ({
      async fetch(input: string | Request, init?: RequestInit) {
        if (own.refusal !== null) throw new Error(own.refusal)
        const request = new Request(input, init)
        if (request.url.endsWith("/health")) return Response.json({ status: "ok" })
        if (!request.url.includes("/tasks")) return new Response()
        recordContainerRequest(own.asked, request)
        const isRight = request.headers.get("authorization") === `Bearer ${own.wanted}`
        if (!own.hasSandbox) {
          const headers = { [RUNNER_BOOT_ID_HEADER]: `boot-${own.tokens.length}` }
          return Response.json({ error: "unsandboxed" }, { status: 503, headers })
        }
        if (request.method === "DELETE" && own.killStatus !== null) {
          return new Response("", { status: own.killStatus })
        }
        const headers = { [YTDLP_STATE_HEADER]: own.ytdlp, [RUNNER_BOOT_ID_HEADER]: "a-boot" }
        return Response.json({ boot: "a-boot" }, { status: isRight ? 202 : 401, headers })
      },
    }),
  }
}

/**
 * Returns a rejected promise that causes no warning until the container's class awaits the promise.
 */
function refused(reason: string): Promise<never> {
  const monitored = Promise.reject(new Error(reason))
  monitored.catch(() => undefined)
  return monitored
}

/** Returns the environment of the tests with some settings replaced. */
export function makeEnvWithSettings(more: Record<string, unknown>): Env {
  const made: object = { ...env, ...more }
  if (!isEnv(made)) throw new Error("no environment")
  return made
}

function isEnv(made: object): made is Env {
  return "MEDIA_RUNNER" in made && "DB" in made
}

/** Makes an order, which is the request to a runner to run a task, of a probe task. */
export async function makeProbeOrder(): Promise<TaskOrder> {
  const [taskId, jobId] = [newId(), newId()]
  const run = { accountId: newId(), jobId, taskId, fence: 1 }
  return {
    task_id: taskId,
    job_id: jobId,
    fence: 1,
    slot: "media-0",
    allocation: Date.now(),
    io: {
      origin: "http://worker.internal",
      token: await makeTaskToken(env.LATHE_SECRET ?? "", run),
    },
    inputs: [],
    work: { kind: "probe" },
  }
}

export function recordContainerRequest(asked: ContainerRequest[], request: Request): void {
  const { method, url, headers } = request
  asked.push({ method, url, authorization: headers.get("authorization") })
}
