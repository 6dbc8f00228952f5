import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import {
  FetchRunner,
  LightRunner,
  LookupRunner,
  MediaRunner,
  SpeechRunner,
} from "../../src/index.ts"
import { killTask, postTask } from "../../src/runner/client.ts"
import {
  makeFakedContainer,
  setFakedContainer,
  makeProbeOrder,
  recordContainerRequest,
  makeEnvWithSettings,
} from "../support/runner/faked-container.ts"
import type { ContainerRequest, FakedContainer } from "../support/runner/faked-container.ts"

const TOKEN = "a-token-of-this-start-of-the-service"

describe("the Worker with a plain runner", () => {
  it.for([
    [TOKEN, `Bearer ${TOKEN}`],
    [undefined, null],
  ] as const)("with the token %s sends %s with every call", async ([token, authorization]) => {
    const asked: ContainerRequest[] = []
    const settings = makeEnvWithSettings({
      RUNNER_TOKEN: token,
      RUNNER: {
        async fetch(request: Request) {
          recordContainerRequest(asked, request)
          return Response.json({ boot: "a-boot" }, { status: 202 })
        },
      },
    })
    const order = await makeProbeOrder()
    expect(await postTask(settings, order)).toEqual({ accepted: "a-boot" })
    await killTask(settings, { slot: "media-0", taskId: order.task_id, fence: 1 })
    const task = `http://127.0.0.1:9/tasks/${order.task_id}?fence=1`
    expect(asked).toEqual([
      { method: "POST", url: "http://127.0.0.1:9/tasks", authorization },
      { method: "DELETE", url: task, authorization },
    ])
  })
})

describe("the object of a container", () => {
  let object: DurableObjectStub
  let container: FakedContainer

  beforeEach(() => {
    object = env.POOL.getByName(crypto.randomUUID())
    container = makeFakedContainer()
  })

  /** Runs `work` on a new object, as after a restart, over the same storage and container. */
  function inRunner<Value>(work: (runner: MediaRunner) => Promise<Value>): Promise<Value> {
    return runInDurableObject(object, async (_, ctx) => {
      setFakedContainer(ctx, container)
      return await work(new MediaRunner(ctx, makeEnvWithSettings({})))
    })
  }

  const OF_NONE = { RUNNER_NETWORK: "none" }
  const OF_WEB = {
    RUNNER_NETWORK: "proxy",
    ALLOWED_PRIVATE_HOSTS: "files.acme.test",
    FETCH_PROXY: "http://proxy.acme.test:3128",
    FETCH_SITES: "acme.test",
    FETCH_COOKIES: "acme.test\tFALSE\t/\tTRUE\t0\tsession\tsecret",
    YTDLP_VERSION: `2031.4.9 sha256:${"0".repeat(64)}`,
  }
  const OF_SPEECH = {
    ...OF_NONE,
    WHISPER_MODEL: "tiny.en",
    WHISPER_MODELS: "base",
    WHISPER_IDLE_SECONDS: "9",
  }
  it.for([
    ["MediaRunner", MediaRunner, OF_NONE],
    ["LightRunner", LightRunner, OF_NONE],
    ["FetchRunner", FetchRunner, OF_WEB],
    ["LookupRunner", LookupRunner, OF_WEB],
    ["SpeechRunner", SpeechRunner, OF_SPEECH],
  ] as const)("starts a %s with only the settings of its pool", async ([, Class, needed]) => {
    await runInDurableObject(object, async (_, ctx) => {
      setFakedContainer(ctx, container)
      const settings = { ...OF_WEB, ...OF_SPEECH, FETCH_DAYS_MAX: "3", S3_SOURCES: "[]" }
      const runner = new Class(ctx, makeEnvWithSettings(settings))
      expect(runner.enableInternet).toBe(needed === OF_WEB)
      await runner.post(await makeProbeOrder())
    })
    const known =
      /^(?:DISK_RESERVE_BYTES|DRAIN_SECONDS_MAX|LOG_LEVEL|RUNNER_(?:CAPACITY|HOST|PORT|TOKEN)|SELF_TESTS_MAX)$/
    const others = Object.entries(container.environment).filter(([name]) => !known.test(name))
    expect(Object.fromEntries(others)).toEqual(needed)
    expect(container.environment["DRAIN_SECONDS_MAX"]).toBe("780")
  })

  it("reports at the end of a run whether its container has the requested yt-dlp", async () => {
    async function reasonsAfter(ytdlp: string, YTDLP_VERSION: string) {
      container.ytdlp = ytdlp
      await runInDurableObject(object, async (_, ctx) => {
        setFakedContainer(ctx, container)
        const runner = new FetchRunner(ctx, makeEnvWithSettings({ YTDLP_VERSION }))
        const order = { ...(await makeProbeOrder()), slot: "fetch-0" }
        await runner.post(order)
        const { task_id: taskId, job_id: jobId, fence } = order
        runner.runEnded({ accountId: "a", taskId, jobId, fence })
      })
      return await env.POOL.getByName("fetch").degradedReasons()
    }
    const asked = `2031.4.9 sha256:${"0".repeat(64)}`
    expect(await reasonsAfter("failed", "")).toEqual([])
    expect(await reasonsAfter("installing", asked)).toEqual([])
    await expect.poll(() => reasonsAfter("failed", asked)).toEqual(["ytdlp_update_failed"])
    expect(await reasonsAfter("installing", asked)).toEqual(["ytdlp_update_failed"])
    await expect.poll(() => reasonsAfter("installed", asked)).toEqual([])
  })

  it("starts it with a token, which it keeps while the container runs", async () => {
    const order = await makeProbeOrder()
    expect(await inRunner((runner) => runner.post(order))).toMatchObject({ status: 202 })
    expect(container.tokens).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(await inRunner((runner) => runner.post(order))).toMatchObject({ status: 202 })
    expect(await inRunner((runner) => runner.kill(order.task_id, 1))).toMatchObject({ status: 202 })
    expect(container.tokens).toHaveLength(1)
    const authorization = `Bearer ${container.tokens[0]}`
    expect(container.asked.map((each) => each.authorization)).toEqual(
      Array.from({ length: 3 }, () => authorization),
    )
  })

  it("creates a token for each start, and one for all who wait for the same start", async () => {
    const order = await makeProbeOrder()
    const both = await inRunner((runner) => Promise.all([runner.post(order), runner.post(order)]))
    expect(both).toMatchObject([{ status: 202 }, { status: 202 }])
    expect(container.tokens).toHaveLength(1)
    container.running = false
    expect(await inRunner((runner) => runner.post(order))).toMatchObject({ status: 202 })
    expect(new Set(container.tokens).size).toBe(2)
  })

  it("stops a container whose token it lost, so that the next order gets one", async () => {
    const order = await makeProbeOrder()
    await inRunner((runner) => runner.post(order))
    container.wanted = "a-token-that-was-never-kept"
    const [refused, taken] = await inRunner(async (runner) => [
      await runner.post(order),
      await runner.post(order),
    ])
    expect(refused).toMatchObject({ status: 401 })
    expect(taken).toMatchObject({ status: 202 })
    expect(container.tokens).toHaveLength(2)
  })

  it("stops it again after a failed stop, which refuses no later order", async () => {
    const order = await makeProbeOrder()
    await inRunner((runner) => runner.post(order))
    container.wanted = "a-token-that-was-never-kept"
    container.endsFailing = 1
    const statuses = await inRunner(async (runner) => {
      const refused = await runner.post(order).catch(() => null)
      return [refused, await runner.post(order), await runner.post(order)]
    })
    expect(statuses).toMatchObject([null, { status: 401 }, { status: 202 }])
  })

  it.for([
    "Maximum number of running container instances exceeded. Try again later.",
    "you are requesting too many containers per second",
  ])("requests a start no sooner than its backoff allows, after: %s", async (refusal) => {
    const order = await makeProbeOrder()
    container.refusal = refusal
    async function post() {
      return await inRunner((runner) => runner.post(order))
    }
    expect(await post()).toMatchObject({ status: 503, text: expect.stringContaining(refusal) })
    expect(container.tokens).toHaveLength(1)
    expect(await post()).toEqual({ status: 503, text: "not started" })
    expect(container.tokens).toHaveLength(1)
    container.refusal = null
    await expect.poll(post).toMatchObject({ status: 202 })
    expect(container.tokens).toHaveLength(2)
  })

  it("waits longer before each start after containers without a sandbox", async () => {
    const order = await makeProbeOrder()
    container.hasSandbox = false
    async function post() {
      return await inRunner((runner) => runner.post(order))
    }
    expect(await post()).toMatchObject({ status: 503 })
    expect(await post()).toMatchObject({ status: 503 })
    // The container ended itself.
    container.running = false
    expect(await post()).toEqual({ status: 503, text: "unsandboxed" })
    expect(container.tokens).toHaveLength(1)
    const pool = env.POOL.getByName("media")
    expect(await pool.degradedReasons()).toEqual(["sandbox_failed"])
    await scheduler.wait(2100)
    expect(await post()).toMatchObject({ status: 503 })
    expect(container.tokens).toHaveLength(2)
    container.running = false
    await scheduler.wait(2100)
    expect(await post()).toEqual({ status: 503, text: "unsandboxed" })
    container.hasSandbox = true
    await scheduler.wait(2100)
    expect(await post()).toMatchObject({ status: 202 })
    await expect.poll(async () => await pool.degradedReasons()).toEqual([])
  })
})
