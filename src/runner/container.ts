import { Container } from "@cloudflare/containers"
import { BOOT_HEADER, UNSANDBOXED, YTDLP_HEADER, runnerHeaders } from "../contract/protocol.ts"
import type { TaskOrder } from "../contract/task.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { log } from "../log.ts"
import type {
  ContainerState,
  HealthPath,
  RunnerAnswer,
  RunnerRpc,
  SlotProblem,
  TaskRun,
} from "../rpc.ts"
import { poolObjectOf } from "../placement.ts"
import { databaseOf } from "../storage/database.ts"
import { isRunningAt } from "../storage/tasks.ts"
import { poolEnvironment } from "./container-environment.ts"
import { judgeIdle, openSlotMemory } from "./slot-memory.ts"
import type { SlotMemory } from "./slot-memory.ts"
import { POOLS } from "./pools.ts"
import type { PoolName } from "./pools.ts"
import { readTaskToken } from "./token.ts"

const PORT = 8788
/** A container's disk is its task's alone: the service keeps no state on it. */
const DISK_RESERVE_BYTES = 64 * 1024 * 1024
const ENVIRONMENT = {
  RUNNER_HOST: "0.0.0.0",
  RUNNER_PORT: String(PORT),
  RUNNER_CAPACITY: "1",
  // Another container may be on another machine, where the sandbox works.
  SELF_TESTS_MAX: "3",
  DISK_RESERVE_BYTES: String(DISK_RESERVE_BYTES),
}
const CALL_MS = 10_000

/** What is answered between two starts that the platform is asked for. */
const NOT_STARTED = "not started"

const LATE: RunnerAnswer = { status: 409, text: "a later allocation has this slot" }

/**
 * The object of one slot and its container. The container is called past `containerFetch`, which
 * would start one in the middle of its end, and counts a caller that went away as there forever.
 */
class Runner extends Container<Env> implements RunnerRpc {
  override defaultPort = PORT
  /** Whether a run still holds its lease is asked so often; the end of a run is known before. */
  override sleepAfter = "60s"
  readonly #pool: PoolName
  readonly #memory: SlotMemory
  #ending: Promise<void> | null = null
  #comingUp: Promise<string | null> | null = null
  /** Why its last start failed; null where it did not. */
  #startProblem: string | null = null
  /** The wait of a container that is idle; null while it has a run. */
  #idle: object | null = null

  constructor(ctx: DurableObjectState<object>, env: Env, pool: PoolName) {
    super(ctx, env)
    this.#pool = pool
    this.enableInternet = POOLS[pool].network !== "none"
    this.#memory = openSlotMemory(ctx.storage.kv)
  }

  async post(order: TaskOrder): Promise<RunnerAnswer> {
    if (!this.#memory.admits(order.allocation)) return LATE
    const { run } = (await readTaskToken(settingsOf(this.env).LATHE_SECRET, order.io.token)) ?? {}
    if (!run) return { status: 400, text: "token" }
    this.#idle = null
    await this.#ending
    const problem = await this.#comeUp(order.slot)
    if (problem !== null) return { status: 503, text: problem }
    // Nothing may be awaited between this check and the call: a container that was ended for
    // another account must not get a task of the one before.
    if (!this.#memory.admits(order.allocation)) return LATE
    this.#memory.noteHanded({ slot: order.slot, run })
    const { answer, boot } = await this.#call("POST", "/tasks", JSON.stringify(order))
    // A container with another token than the one kept here can never be called again.
    if (answer.status === 401) await this.#endContainer()
    if (answer.status === 202 && boot !== null) this.#memory.noteBoot(boot)
    const isUnsandboxed = answer.status === 503 && answer.text.includes(`"${UNSANDBOXED}"`)
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

  async inspect(healthPath: HealthPath = "/health"): Promise<ContainerState> {
    const isRunning = containerOf(this.ctx).running
    const health = isRunning ? (await this.#call("GET", healthPath)).answer : null
    return { isRunning, problem: this.#startProblem, health }
  }

  runEnded(run: TaskRun): void {
    this.#forgetRun(run)
    if (poolEnvironment(this.env, this.#pool)["YTDLP_VERSION"] !== undefined) {
      this.ctx.waitUntil(this.#judgeYtdlp(run.taskId))
    }
  }

  override async onActivityExpired(): Promise<void> {
    const run = this.#memory.run()
    // D1 alone says whose task it is: a run that it no longer has holds no lease.
    const holdsLease = run !== null && (await isRunningAt(databaseOf(this.env, run.accountId), run))
    const isStopping = this.#memory.isStopping()
    const verdict = judgeIdle({ holdsLease, isStopping })
    if (verdict === "destroy") await this.destroy()
    if (verdict !== "stop") return
    this.#memory.noteStopping()
    await this.stop()
    this.#waitIdle()
  }

  /** Says whose run was lost; never how it ended, since an exit code does not tell. */
  override async onStop(): Promise<void> {
    const stopped = this.#memory.forgetProcess()
    if (stopped) await poolObjectOf(this.env, this.#pool).slotStopped(stopped)
  }

  /** The run is over, and the container is idle from now on. */
  #forgetRun(run: TaskRun): void {
    this.#memory.forgetRun(run)
    this.renewActivityTimeout()
    this.#waitIdle()
  }

  /** A run that still holds its lease by then is told of later, or is asked for after `sleepAfter`. */
  #waitIdle(): void {
    const idle = {}
    this.#idle = idle
    setTimeout(
      () => {
        if (this.#idle !== idle || this.#memory.run() !== null) return
        if (containerOf(this.ctx).running) this.ctx.waitUntil(this.onActivityExpired())
      },
      settingsOf(this.env).CONTAINER_IDLE_SECONDS * 1000,
    )
  }

  /** Tells the pool whether the container has the yt-dlp that it was told to use. */
  async #judgeYtdlp(taskId: string): Promise<void> {
    const slot = this.#memory.slot()
    const { ytdlp } = await this.#call("GET", `/tasks/${taskId}`)
    if (slot === null || (ytdlp !== "installed" && ytdlp !== "failed")) return
    await this.#judge(slot, "ytdlp_update_failed", ytdlp === "failed")
  }

  /** Starts the container where it does not run; answers why there is none. */
  async #comeUp(slot: string): Promise<string | null> {
    const { status } = await this.getState()
    if (containerOf(this.ctx).running && status === "healthy") return null
    // Callers share one start, since each start makes a token of its own.
    this.#comingUp ??= this.#start(slot).finally(() => {
      this.#comingUp = null
    })
    this.#startProblem = await this.#comingUp
    return this.#startProblem
  }

  async #start(slot: string): Promise<string | null> {
    const isRunning = containerOf(this.ctx).running
    if (!isRunning && this.#memory.restartsIn(Date.now()) > 0) return UNSANDBOXED
    if (!isRunning && this.#memory.startsIn(Date.now()) > 0) return NOT_STARTED
    const token = isRunning ? this.#memory.token() : this.#memory.makeToken()
    const envVars = {
      ...ENVIRONMENT,
      DRAIN_SECONDS_MAX: String(settingsOf(this.env).DRAIN_SECONDS_MAX),
      RUNNER_NETWORK: POOLS[this.#pool].network,
      ...poolEnvironment(this.env, this.#pool),
      ...(token !== null && { RUNNER_TOKEN: token }),
    }
    try {
      await this.startAndWaitForPorts({ startOptions: { envVars } })
      if (this.#memory.noteStarted()) {
        this.ctx.waitUntil(this.#judge(slot, "container_not_started", false))
      }
      return null
    } catch (error) {
      // A container that runs and does not listen yet is only slow.
      if (!containerOf(this.ctx).running) {
        log("warn", "runner.not_started", { slot, error: String(error) })
        this.#memory.noteNotStarted(Date.now())
        this.ctx.waitUntil(this.#judge(slot, "container_not_started", true))
      }
      return String(error)
    }
  }

  /** Tells the pool whether the container has a problem. */
  async #judge(slot: string, problem: SlotProblem, isThere: boolean): Promise<void> {
    await poolObjectOf(this.env, this.#pool).problemJudged({ slot, problem, isThere })
  }

  /** An end that failed refuses only the calls that waited for it. */
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
    const headers = { "content-type": "application/json", ...runnerHeaders(token) }
    const signal = AbortSignal.timeout(CALL_MS)
    this.renewActivityTimeout()
    try {
      const request = new Request(`http://runner${path}`, { method, headers, body, signal })
      const answer = await containerOf(this.ctx).getTcpPort(PORT).fetch(request)
      const boot = answer.headers.get(BOOT_HEADER)
      const ytdlp = answer.headers.get(YTDLP_HEADER)
      return { answer: { status: answer.status, text: await answer.text() }, boot, ytdlp }
    } catch (error) {
      return { answer: { status: 503, text: String(error) }, boot: null, ytdlp: null }
    }
  }
}

/** Containers that process media. */
export class MediaRunner extends Runner {
  constructor(ctx: DurableObjectState<object>, env: Env) {
    super(ctx, env, "media")
  }
}

/** Small containers for short tasks. */
export class LightRunner extends Runner {
  constructor(ctx: DurableObjectState<object>, env: Env) {
    super(ctx, env, "light")
  }
}

/** Containers that fetch from the web. */
export class FetchRunner extends Runner {
  constructor(ctx: DurableObjectState<object>, env: Env) {
    super(ctx, env, "fetch")
  }
}

/** Small containers that look pages up, for callers who wait for the answer. */
export class LookupRunner extends Runner {
  constructor(ctx: DurableObjectState<object>, env: Env) {
    super(ctx, env, "lookup")
  }
}

/** Containers that write down speech, whose model stays in memory. */
export class SpeechRunner extends Runner {
  constructor(ctx: DurableObjectState<object>, env: Env) {
    super(ctx, env, "speech")
  }
}

function containerOf({ container }: DurableObjectState<object>): globalThis.Container {
  if (!container) throw new Error("This object has no container.")
  return container
}
