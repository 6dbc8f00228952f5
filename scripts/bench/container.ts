import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import { buildImage, docker, runScriptIn } from "../image/docker.ts"
import { findEngine } from "../image/engine.ts"
import { startImageService } from "../image/service.ts"
import type { ImageService } from "../image/service.ts"
import { readRunnerLine } from "../local/runner-line.ts"
import type { RunnerLine } from "../local/runner-line.ts"
import type { Caller } from "./caller.ts"
import { formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { BenchScope } from "./scope.ts"
import { makeMedia } from "./media.ts"
import { submitCommand, untilSuccess, uploadMedia } from "./requests.ts"
import { median } from "./statistics.ts"

const TIMES = { cold: 5, warm: 20, encode: 5 }
const GOALS = { coldMs: 2500, warmMs: 50, encodeRatio: 1.05 }
const EVENT_MS_MAX = 30_000
/** Rarely, since each request takes processor time from the encoder. */
const POLL_MS = 500
const LOG_POLL_MS = 50
const SOURCE =
  "-f lavfi -i testsrc2=size=1280x720:rate=30,noise=alls=5:allf=t -t 30 -c:v libx264 " +
  "-preset veryfast -crf 23 -pix_fmt yuv420p"
const WORDS = "-c:v libx264 -preset veryfast -crf 26"
const SHORT = "ffmpeg -f lavfi -i testsrc=size=64x64:rate=10 -t 0.1 -c:v mpeg4 {{out_1}}"

type Target = { service: ImageService; caller: Caller }

/** Container starts, and encodes in a container, where a Docker engine is available. */
export async function benchContainer(scope: BenchScope): Promise<Figure[]> {
  const engine = await findEngine()
  if (typeof engine === "string") {
    console.error(`Containers were not measured: ${engine}.`)
    return []
  }
  scope.defer(async () => await engine[Symbol.asyncDispose]())
  await buildImage()
  const service = await startImageService({ RUNNER_INSTANCES: "1" })
  scope.defer(async () => await service[Symbol.asyncDispose]())
  const { caller } = await service.openAccount("bench")
  const target = { service, caller }
  return [
    await measureCold(target),
    await measureWarm(target),
    ...(await measureEncode(target, scope)),
  ]
}

async function measureCold(target: Target): Promise<Figure> {
  const firstMs = await acceptMs(target)
  const laterMs: number[] = []
  for (let time = 0; time < TIMES.cold; time += 1) {
    await docker("kill", ...(await target.service.containers()))
    // Its Durable Object has to notice first.
    await sleep(500)
    laterMs.push(await acceptMs(target))
  }
  const measured = median(laterMs)
  return {
    name: `container: cold, submit until a runner took it, median of ${TIMES.cold}`,
    measured: formatMs(measured),
    reference: `${formatMs(firstMs)} the very first`,
    comparison: formatRatio(measured / firstMs),
    goal: `<= ${GOALS.coldMs} ms, both`,
    isMet: Math.max(measured, firstMs) <= GOALS.coldMs,
  }
}

async function measureWarm(target: Target): Promise<Figure> {
  const times: number[] = []
  for (let time = 0; time < TIMES.warm; time += 1) times.push(await acceptMs(target))
  const measured = median(times)
  return {
    name: `container: warm, submit until a runner took it, median of ${TIMES.warm}`,
    measured: formatMs(measured),
    reference: `${formatMs(Math.max(...times))} the longest`,
    comparison: "",
    goal: `<= ${GOALS.warmMs} ms`,
    isMet: measured <= GOALS.warmMs,
  }
}

/** An encode by the service and by ffmpeg alone in the same container, alternating. */
async function measureEncode({ service, caller }: Target, scope: BenchScope): Promise<Figure[]> {
  const path = await makeMedia(await scope.makeFolder(), "source.mp4", SOURCE)
  const fileId = await uploadMedia(caller, path)
  const [container = ""] = await service.containers()
  await docker("cp", path, `${container}:/work/source.mp4`)
  const times: Record<"task" | "encode" | "bare", number[]> = { task: [], encode: [], bare: [] }
  for (let time = 0; time < TIMES.encode; time += 1) {
    const id = await submitCommand(caller, {
      ffmpeg_command: `ffmpeg -i {{in_1}} ${WORDS} {{out_1}}`,
      input_files: { in_1: `svc_id://${fileId}` },
      output_files: { out_1: "encoded.mp4" },
    })
    await untilSuccess(caller, `/v1/commands/${id}`, { pollMs: POLL_MS })
    const ended = await findLogged(service, "task.ended", id)
    times.task.push(ended.atMs - (await findLogged(service, "task.accepted", id)).atMs)
    times.encode.push((ended.processingSeconds ?? 0) * 1000)
    times.bare.push(Number(await runScriptIn(container, BARE)))
  }
  const [task, encode, bare] = [median(times.task), median(times.encode), median(times.bare)]
  const reference = `${formatMs(bare)} bare ffmpeg in it`
  return [
    {
      name: `container: encode of 30 s of 720p, median of ${TIMES.encode}`,
      measured: formatMs(encode),
      reference,
      comparison: formatRatio(encode / bare),
      goal: `<= ${GOALS.encodeRatio} x`,
      isMet: encode <= bare * GOALS.encodeRatio,
    },
    {
      name: "container: the same with the ways of its files, accepted until ended",
      measured: formatMs(task),
      reference,
      comparison: formatRatio(task / bare),
      goal: "for information",
      isMet: null,
    },
  ]
}

const BARE = `import { spawnSync } from "node:child_process"
  const words = "-nostdin -v error -y -i /work/source.mp4 ${WORDS} /work/encoded.mp4".split(" ")
  const beganMs = performance.now()
  const { status } = spawnSync("ffmpeg", words)
  if (status !== 0) process.exit(1)
  console.log(performance.now() - beganMs)`

/** From the submit of a short command until a runner logged that it took it. */
async function acceptMs({ service, caller }: Target): Promise<number> {
  const beganAt = Date.now()
  const id = await submitCommand(caller, {
    ffmpeg_command: SHORT,
    input_files: {},
    output_files: { out_1: "out.mp4" },
  })
  await untilSuccess(caller, `/v1/commands/${id}`)
  return (await findLogged(service, "task.accepted", id)).atMs - beganAt
}

/** An event that the runner logged of a job, by the clock of this machine too; waits for it. */
async function findLogged(
  service: ImageService,
  event: string,
  jobId: string,
): Promise<RunnerLine> {
  const message = `no runner logged ${event} of ${jobId}`
  return await pWaitFor<RunnerLine>(
    async () => {
      const [container = ""] = await service.containers()
      const lines = (await docker("logs", container)).split("\n").map(readRunnerLine)
      const found = lines.find((each) => each?.event === event && each.jobId === jobId)
      return found ? pWaitFor.resolveWith(found) : false
    },
    { interval: LOG_POLL_MS, timeout: { milliseconds: EVENT_MS_MAX, message } },
  )
}
