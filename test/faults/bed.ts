import { chmod, readFile, symlink } from "node:fs/promises"
import { join } from "node:path"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { findProgram } from "../../container/sandbox/system-paths.ts"
import { makeTempFolder } from "../../scripts/cli/temp-folder.ts"
import { findFreePort } from "../../scripts/cli/ports.ts"
import { startServiceProcess } from "../../scripts/cli/service-process.ts"
import type { ServiceProcess } from "../../scripts/cli/service-process.ts"
import { openEvents } from "./events.ts"
import type { Events } from "./events.ts"
import { makeMedia } from "./media.ts"
import { openProxy } from "./proxy.ts"
import type { Proxy } from "./proxy.ts"
import { runnerOriginOf } from "./processes.ts"
import { openReceiver } from "./receiver.ts"
import type { Receiver } from "./receiver.ts"
import { openSource } from "./source.ts"
import type { Source } from "./source.ts"

/** Tasks at once; a trial account may have as many. */
export const CAPACITY = 4

/** Little of the small disk that workspaces have where its being full is tried. */
const DISK_RESERVE_BYTES = 4 * 1024 * 1024

/** Soon enough for the end of a group, where no process may be left. */
const WHISPER_IDLE_SECONDS = 15

const AWAY_MS_MAX = 60_000
const TRY_AGAIN_MS = 100

/** A test bed: a service, and around it all that injecting and observing faults needs. */
export type Bed = AsyncDisposable & {
  origin: string
  stateDir: string
  /** The account's key. */
  key: string
  workDir: string
  /** The runner's ffmpeg: a link, which a fault may take away. */
  ffmpegPath: string
  /** Process id of the start script, also once it was started again. */
  readonly pid: number
  proxy: Proxy
  /** Between Worker and runner, the other way round: what passes are tasks and kills. */
  runnerProxy: Proxy
  receiver: Receiver
  events: Events
  /** Source that jobs fetch from. */
  source: Source
  /** The bytes of a small video, and a file of the account with the same. */
  media: Blob
  mediaFileId: string
  /** Sends a request as the account, and retries while there is no answer or one of status 5xx. */
  call(method: string, path: string, makeInit?: () => RequestInit): Promise<Response>
  /** Ends the whole service, by `end`, and starts it again with the same state. */
  restart(end: (pid: number) => Promise<void>): Promise<void>
}

/**
 * Starts a service whose runner reaches the Worker through the proxy, in a folder if one is given.
 */
export async function openBed(
  settings: Record<string, string> = {},
  stateFolder?: string,
): Promise<Bed> {
  await using opened = new AsyncDisposableStack()
  const proxy = opened.use(await openProxy())
  const runnerProxy = opened.use(await openProxy())
  const receiver = opened.use(await openReceiver())
  const source = opened.use(await openSource())
  const ffmpegPath = await linkFfmpeg(opened.use(await makeTempFolder("tools")).path)
  const stateDir = stateFolder ?? opened.use(await makeTempFolder("service")).path
  const events = openEvents()
  const port = await findFreePort()
  const running = { service: await start() }
  opened.defer(async () => await running.service[Symbol.asyncDispose]())
  async function start(): Promise<ServiceProcess> {
    const started = await startServiceProcess({
      settings: {
        FFMPEG_PATH: ffmpegPath,
        // Commands that fail at the run are among the submitted jobs.
        FFMPEG_FACTS: "none",
        RUNNER_CAPACITY: String(CAPACITY),
        DISK_RESERVE_BYTES: String(DISK_RESERVE_BYTES),
        ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
        IO_ORIGIN: proxy.origin,
        RUNNER_ORIGIN: runnerProxy.origin,
        WHISPER_IDLE_SECONDS: String(WHISPER_IDLE_SECONDS),
        ...settings,
      },
      stateDir,
      port,
      echoesErrors: true,
    })
    proxy.setTarget(started.origin)
    runnerProxy.setTarget(runnerOriginOf(started.pid))
    started.onLine((line) => events.read(line))
    return started
  }
  const { service } = running
  const key = await service.makeKey("faults")
  const call = makeCall(`${service.origin}/v1`, key)
  const { secret } = await readJson(
    z.object({ secret: z.string() }),
    call("GET", "/webhooks/secret"),
  )
  receiver.setSecret(secret)
  const media = new Blob([await readFile(await makeMedia(service.stateDir))])
  const file = await uploadMedia(call, media)
  const { origin } = service
  const whole = opened.move()
  return {
    origin,
    stateDir,
    key,
    ffmpegPath,
    source,
    get pid() {
      return running.service.pid
    },
    proxy,
    runnerProxy,
    receiver,
    events,
    media,
    call,
    workDir: join(stateDir, "work"),
    mediaFileId: file.id,
    async restart(end) {
      await end(running.service.pid)
      await running.service[Symbol.asyncDispose]()
      running.service = await start()
    },
    [Symbol.asyncDispose]: async () => await whole.disposeAsync(),
  }
}

/** A link to ffmpeg in a folder that the users of tools may enter. */
async function linkFfmpeg(folder: string): Promise<string> {
  await chmod(folder, 0o755)
  const path = join(folder, "ffmpeg")
  await symlink(findProgram("ffmpeg"), path)
  return path
}

/** The JSON of an answer, parsed by a schema; throws where it does not fit. */
export async function readJson<Value>(
  schema: z.ZodType<Value>,
  asked: Promise<Response>,
): Promise<Value> {
  const answer = await asked
  const body: unknown = await answer.json()
  const { data, success } = schema.safeParse(body)
  if (success) return data
  throw new Error(`${answer.url} was answered ${answer.status}: ${JSON.stringify(body)}`)
}

function makeCall(base: string, key: string): Bed["call"] {
  return async (method, path, makeInit) => {
    async function tryOnce() {
      const { headers, ...init } = makeInit?.() ?? {}
      const named = { ...Object.fromEntries(new Headers(headers)), "x-api-key": key }
      const url = path.startsWith("http") ? path : base + path
      const answer = await fetch(url, { ...init, method, headers: named }).catch(() => null)
      if (answer && answer.status < 500) return pWaitFor.resolveWith(answer)
      await answer?.body?.cancel()
      return false
    }
    const message = `${method} ${path} had no good answer for too long`
    return await pWaitFor<Response>(tryOnce, {
      interval: TRY_AGAIN_MS,
      timeout: { milliseconds: AWAY_MS_MAX, message },
    })
  }
}

async function uploadMedia(call: Bed["call"], media: Blob) {
  const uploaded = call("POST", "/files", () => {
    const body = new FormData()
    body.set("file", media, "clip.mp4")
    return { body, headers: { prefer: "wait=30" } }
  })
  return await readJson(z.looseObject({ id: z.string(), status: z.literal("success") }), uploaded)
}
