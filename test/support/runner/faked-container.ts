import { env } from "cloudflare:workers"
import { BOOT_HEADER, YTDLP_STATE_HEADER } from "../../../src/contract/protocol.ts"
import type { TaskOrder } from "../../../src/contract/task.ts"
import type { Env } from "../../../src/bindings/env.ts"
import { newId } from "../../../src/platform/ids.ts"
import { makeTaskToken } from "../../../src/runner/task-token.ts"

/** A request to a runner. */
export type ContainerRequest = { method: string; url: string; authorization: string | null }

/** A stand-in for a container, which does not exist in tests. */
export type FakedContainer = {
  running: boolean
  hasSandbox: boolean
  /** Why it cannot be started; null where it can. */
  startProblem: string | null
  tokens: string[]
  /** Variables that its last start had. */
  environment: Record<string, string>
  /** Value of its header about yt-dlp. */
  ytdlp: string
  /** Why it is not started, as the platform says it; null where it is. */
  refusal: string | null
  /** How many ends of it fail. */
  endsFailing: number
  /** Signals that it got; the first one stops it. */
  signals: number[]
  /** Status of its answer to DELETE; null answers as a task's runner does. */
  killStatus: number | null
  asked: ContainerRequest[]
  wanted: string | null
}

export function freshContainer(): FakedContainer {
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

/** A container as workerd has them: its runner wants the token that it was started with. */
export function giveContainer(
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
        noteAsked(own.asked, request)
        const isRight = request.headers.get("authorization") === `Bearer ${own.wanted}`
        if (!own.hasSandbox) {
          const headers = { [BOOT_HEADER]: `boot-${own.tokens.length}` }
          return Response.json({ error: "unsandboxed" }, { status: 503, headers })
        }
        if (request.method === "DELETE" && own.killStatus !== null) {
          return new Response("", { status: own.killStatus })
        }
        const headers = { [YTDLP_STATE_HEADER]: own.ytdlp, [BOOT_HEADER]: "a-boot" }
        return Response.json({ boot: "a-boot" }, { status: isRight ? 202 : 401, headers })
      },
    }),
  }
}

/** Its class looks at it some time later. */
function refused(reason: string): Promise<never> {
  const monitored = Promise.reject(new Error(reason))
  monitored.catch(() => undefined)
  return monitored
}

/** The environment of the tests with some settings of their own. */
export function withSettings(more: Record<string, unknown>): Env {
  const made: object = { ...env, ...more }
  if (!isEnv(made)) throw new Error("no environment")
  return made
}

function isEnv(made: object): made is Env {
  return "MEDIA_RUNNER" in made && "DB" in made
}

/** The order of a probe. */
export async function makeOrder(): Promise<TaskOrder> {
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

export function noteAsked(asked: ContainerRequest[], request: Request): void {
  const { method, url, headers } = request
  asked.push({ method, url, authorization: headers.get("authorization") })
}
