import { Container } from "@cloudflare/containers"
import {
  RUNNER_BOOT_ID_HEADER,
  UNSANDBOXED_ERROR_CODE,
  YTDLP_STATE_HEADER,
  makeRunnerHeaders,
} from "../contract/protocol.ts"
import type { TaskOrder } from "../contract/task.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { log } from "../platform/log.ts"
import type {
  ContainerState,
  RunnerHealthPath,
  RunnerAnswer,
  RunnerRpc,
  SlotDegradedReason,
  TaskRun,
} from "../bindings/rpc.ts"
import { getPoolObject } from "../bindings/durable-objects.ts"
import { openAccountDatabases } from "../db/database.ts"
import { isTaskRunningAtFence } from "../db/jobs/tasks.ts"
import { makeContainerEnvironment } from "./container-environment.ts"
import { chooseIdleContainerAction, createContainerState } from "./container-state.ts"
import type { StoredContainerState } from "./container-state.ts"
import { POOLS } from "../bindings/pools.ts"
import type { PoolName } from "../bindings/pools.ts"
import { verifyTaskToken } from "./task-token.ts"

const PORT = 8788
/**
 * Disk space that a container keeps free, in bytes. The reserve is small, because the disk holds
 * one task and no state of the service.
 */
const DISK_RESERVE_BYTES = 64 * 1024 * 1024
const ENVIRONMENT = {
  RUNNER_HOST: "0.0.0.0",
  RUNNER_PORT: String(PORT),
  RUNNER_CAPACITY: "1",
  // Maximum number of self-tests that a container makes while its sandbox does not work. The next
  // container may be on another machine, where the sandbox works.
  SELF_TESTS_MAX: "3",
  DISK_RESERVE_BYTES: String(DISK_RESERVE_BYTES),
}
const CALL_MS = 10_000

/**
 * Text of the response to a posted task, during the backoff after failed starts of the container.
 */
const NOT_STARTED = "not started"

const LATE: RunnerAnswer = { status: 409, text: "a later allocation has this slot" }

/**
 * Durable Object of one slot, which owns the slot's container. Calls of the container bypass
 * `containerFetch` of `@cloudflare/containers`, which would start a container that is being
 * stopped, and would count the request of a disconnected caller as open forever.
 */
class Runner extends Container<Env> implements RunnerRpc {
  override defaultPort = PORT
  /**
   * Time without calls after which the lease of a run is checked. Usually the end of the run is
   * reported earlier.
   */
  override sleepAfter = "60s"
  readonly #pool: PoolName
  readonly #memory: StoredContainerState
  #ending: Promise<void> | null = null
  #comingUp: Promise<string | null> | null = null
  /** Failure of the container's last start; null if the start succeeded. */
  #startProblem: string | null = null
  /** Identity of the present idle timer, by which older timers do nothing; null during a run. */
  #idle: object | null = null

  constructor(ctx: DurableObjectState<object>, env: Env, pool: PoolName) {
    super(ctx, env)
    this.#pool = pool
    this.enableInternet = POOLS[pool].network !== "none"
    this.#memory = createContainerState(ctx.storage.kv)
  }

  async post(order: TaskOrder): Promise<RunnerAnswer> {
    if (!this.#memory.admits(order.allocation)) return LATE
    const { run } =
      (await verifyTaskToken(getSettings(this.env).LATHE_SECRET, order.io.token)) ?? {}
    if (!run) return { status: 400, text: "token" }
    this.#idle = null
    await this.#ending
    const problem = await this.#comeUp(order.slot)
    if (problem !== null) return { status: 503, text: problem }
    // Checks the allocation again: if the container was stopped for another account meanwhile, it
    // must not get a task of the previous account. No `await` may come between this check and the
    // call.
    if (!this.#memory.admits(order.allocation)) return LATE
    this.#memory.noteHanded({ slot: order.slot, run })
    const { answer, boot } = await this.#call("POST", "/tasks", JSON.stringify(order))
    // Stops a container whose token differs from the stored token, because that container would
    // refuse every call.
    if (answer.status === 401) await this.#endContainer()
    if (answer.status === 202 && boot !== null) this.#memory.noteBoot(boot)
    const isUnsandboxed =
      answer.status === 503 && answer.text.includes(`"${UNSANDBOXED_ERROR_CODE}"`)
    if (isUnsandboxed) {
      this.#memory.noteUnsandboxed(boot, Date.now())
      this.#memory.forgetRun(run)
    }
    if (isUnsandboxed || (answer.status === 202 && this.#memory.noteSandboxed())) {
      this.ctx.waitUntil(this.#judge(order.slot, "sandbox_failed", isUnsandboxed))
    }
    return answer
  }

  async kill(taskId: string, fence: number): Promise<RunnerAnswer> {
    if (!containerOf(this.ctx).running) return { status: 200, text: "" }
    const { answer } = await this.#call("DELETE", `/tasks/${taskId}?fence=${fence}`)
    const run = this.#memory.run()
    const isGone = answer.status === 200 && run?.taskId === taskId && run.fence <= fence
    if (isGone) this.#forgetRun(run)
    return answer
  }

  async end(allocation: number): Promise<boolean> {
    if (!this.#memory.admits(allocation)) return false
    if (containerOf(this.ctx).running) await this.#endContainer()
    return true
  }

  async inspect(healthPath: RunnerHealthPath = "/health"): Promise<ContainerState> {
    const isRunning = containerOf(this.ctx).running
    const health = isRunning ? (await this.#call("GET", healthPath)).answer : null
    return { isRunning, problem: this.#startProblem, health }
  }

  runEnded(run: TaskRun): void {
    this.#forgetRun(run)
    if (makeContainerEnvironment(this.env, this.#pool)["YTDLP_VERSION"] !== undefined) {
      this.ctx.waitUntil(this.#judgeYtdlp(run.taskId))
    }
  }

  override async onActivityExpired(): Promise<void> {
    const run = this.#memory.run()
    // Reads from D1 whether the run still has its task and therefore holds a lease, because the
    // notice of the run's end may not have reached this object.
    const holdsLease =
      run !== null &&
      (await isTaskRunningAtFence(openAccountDatabases(this.env, run.accountId), run))
    const isStopping = this.#memory.isStopping()
    const verdict = chooseIdleContainerAction({ holdsLease, isStopping })
    if (verdict === "destroy") await this.destroy()
    if (verdict !== "stop") return
    this.#memory.noteStopping()
    await this.stop()
    this.#waitIdle()
  }

  /**
   * Informs the pool which process ended with the container. Ignores the exit code, because this
   * code does not show how the run ended.
   */
  override async onStop(): Promise<void> {
    const stopped = this.#memory.forgetProcess()
    if (stopped) await getPoolObject(this.env, this.#pool).slotStopped(stopped)
  }

  /** Records the end of a run, and starts the idle timer. */
  #forgetRun(run: TaskRun): void {
    this.#memory.forgetRun(run)
    this.renewActivityTimeout()
    this.#waitIdle()
  }

  /**
   * Starts the idle timer, which stops the container unless a run has begun meanwhile. The end of
   * that run starts the timer again. If the run's end is never reported, the check after
   * `sleepAfter` finds the container idle.
   */
  #waitIdle(): void {
    const idle = {}
    this.#idle = idle
    setTimeout(
      () => {
        if (this.#idle !== idle || this.#memory.run() !== null) return
        if (containerOf(this.ctx).running) this.ctx.waitUntil(this.onActivityExpired())
      },
      getSettings(this.env).CONTAINER_IDLE_SECONDS * 1000,
    )
  }

  /** Informs the pool whether the container could install the yt-dlp version of `YTDLP_VERSION`. */
  async #judgeYtdlp(taskId: string): Promise<void> {
    const slot = this.#memory.slot()
    const { ytdlp } = await this.#call("GET", `/tasks/${taskId}`)
    if (slot === null || (ytdlp !== "installed" && ytdlp !== "failed")) return
    await this.#judge(slot, "ytdlp_update_failed", ytdlp === "failed")
  }

  /**
   * Starts the container unless it runs. Returns null on success, or the reason why the container
   * could not start.
   */
  async #comeUp(slot: string): Promise<string | null> {
    const { status } = await this.getState()
    if (containerOf(this.ctx).running && status === "healthy") return null
    // Simultaneous callers await the same start, because each start creates a new token.
    this.#comingUp ??= this.#start(slot).finally(() => {
      this.#comingUp = null
    })
    this.#startProblem = await this.#comingUp
    return this.#startProblem
  }

  async #start(slot: string): Promise<string | null> {
    const isRunning = containerOf(this.ctx).running
    if (!isRunning && this.#memory.restartsIn(Date.now()) > 0) return UNSANDBOXED_ERROR_CODE
    if (!isRunning && this.#memory.startsIn(Date.now()) > 0) return NOT_STARTED
    const token = isRunning ? this.#memory.token() : this.#memory.makeToken()
    const envVars = {
      ...ENVIRONMENT,
      DRAIN_SECONDS_MAX: String(getSettings(this.env).DRAIN_SECONDS_MAX),
      RUNNER_NETWORK: POOLS[this.#pool].network,
      ...makeContainerEnvironment(this.env, this.#pool),
      ...(token !== null && { RUNNER_TOKEN: token }),
    }
    try {
      await this.startAndWaitForPorts({ startOptions: { envVars } })
      if (this.#memory.noteStarted()) {
        this.ctx.waitUntil(this.#judge(slot, "container_not_started", false))
      }
      return null
    } catch (error) {
      // Counts the start as failed only if the container has exited. A container that still runs
      // but does not listen yet is only slow.
      if (!containerOf(this.ctx).running) {
        log("warn", "runner.not_started", { slot, error: String(error) })
        this.#memory.noteNotStarted(Date.now())
        this.ctx.waitUntil(this.#judge(slot, "container_not_started", true))
      }
      return String(error)
    }
  }

  /**
   * Informs the pool whether the slot's container has this problem, which the service's health then
   * lists as a reason why the service is degraded.
   */
  async #judge(slot: string, problem: SlotDegradedReason, isThere: boolean): Promise<void> {
    await getPoolObject(this.env, this.#pool).problemJudged({ slot, problem, isThere })
  }

  /**
   * Stops the container. A failed stop fails only this call and the calls that already wait for the
   * stop; later calls do not see the failure.
   */
  async #endContainer(): Promise<void> {
    const ending = this.destroy()
    this.#ending = ending
    try {
      await ending
    } finally {
      if (this.#ending === ending) this.#ending = null
    }
  }

  async #call(method: string, path: string, body: string | null = null) {
    const token = this.#memory.token()
    const headers = { "content-type": "application/json", ...makeRunnerHeaders(token) }
    const signal = AbortSignal.timeout(CALL_MS)
    this.renewActivityTimeout()
    try {
      const request = new Request(`http://runner${path}`, { method, headers, body, signal })
      const answer = await containerOf(this.ctx).getTcpPort(PORT).fetch(request)
      const boot = answer.headers.get(RUNNER_BOOT_ID_HEADER)
      const ytdlp = answer.headers.get(YTDLP_STATE_HEADER)
      return { answer: { status: answer.status, text: await answer.text() }, boot, ytdlp }
    } catch (error) {
      return { answer: { status: 503, text: String(error) }, boot: null, ytdlp: null }
    }
  }
}

/** Durable Object of a container that runs commands on media. */
export class MediaRunner extends Runner {
  constructor(ctx: DurableObjectState<object>, env: Env) {
    super(ctx, env, "media")
  }
}

/** Durable Object of a small container for short tasks, such as probes. */
export class LightRunner extends Runner {
  constructor(ctx: DurableObjectState<object>, env: Env) {
    super(ctx, env, "light")
  }
}

/** Durable Object of a container that downloads media from the web. */
export class FetchRunner extends Runner {
  constructor(ctx: DurableObjectState<object>, env: Env) {
    super(ctx, env, "fetch")
  }
}

/** Durable Object of a small container that reads metadata of web pages while callers wait. */
export class LookupRunner extends Runner {
  constructor(ctx: DurableObjectState<object>, env: Env) {
    super(ctx, env, "lookup")
  }
}

/** Durable Object of a container that transcribes speech and keeps a model in memory. */
export class SpeechRunner extends Runner {
  constructor(ctx: DurableObjectState<object>, env: Env) {
    super(ctx, env, "speech")
  }
}

function containerOf({ container }: DurableObjectState<object>): globalThis.Container {
  if (!container) throw new Error("This object has no container.")
  return container
}
