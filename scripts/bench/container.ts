import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { buildImage, docker, runScriptIn } from "../image/docker.ts"
import { findEngine } from "../image/engine.ts"
import { startImageService } from "../image/service.ts"
import type { ImageService } from "../image/service.ts"
import type { Caller } from "./caller.ts"
import { formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { Lab } from "./lab.ts"
import { makeMedia, readMedia } from "./media.ts"
import { submitCommand, untilSuccess, uploadFile } from "./requests.ts"
import { median } from "./statistics.ts"

const TIMES = { cold: 5, warm: 20, encode: 5 }
const GOALS = { coldMs: 2500, warmMs: 50, encodeRatio: 1.05 }
const EVENT_MS_MAX = 30_000
/** Who asks often keeps the encoder waiting, on as few cores as it has here. */
const POLL_MS = 500
const SOURCE =
  "-f lavfi -i testsrc2=size=1280x720:rate=30,noise=alls=5:allf=t -t 30 -c:v libx264 " +
  "-preset veryfast -crf 23 -pix_fmt yuv420p"
const WORDS = "-c:v libx264 -preset veryfast -crf 26"
const SHORT = "ffmpeg -f lavfi -i testsrc=size=64x64:rate=10 -t 0.1 -c:v mpeg4 {{out_1}}"

type Bed = { service: ImageService; caller: Caller }

/** Starts of containers and encodes in one, where a Docker engine is at hand. */
export async function benchContainer(lab: Lab): Promise<Figure[]> {
  const engine = await findEngine()
  if (typeof engine === "string") {
    console.error(`Containers were not measured: ${engine}.`)
    return []
  }
  lab.defer(async () => await engine[Symbol.asyncDispose]())
  await buildImage()
  const service = await startImageService({ RUNNER_INSTANCES: "1" })
  lab.defer(async () => await service[Symbol.asyncDispose]())
  const { caller } = await service.openAccount("bench")
  const bed = { service, caller }
  return [await measureCold(bed), await measureWarm(bed), ...(await measureEncode(bed, lab))]
}

async function measureCold(bed: Bed): Promise<Figure> {
  const firstMs = await acceptMs(bed)
  const laterMs: number[] = []
  for (let time = 0; time < TIMES.cold; time += 1) {
    await docker("kill", ...(await bed.service.containers()))
    // Its object has to hear of it, as it has when a container ended long ago.
    await sleep(500)
    laterMs.push(await acceptMs(bed))
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

async function measureWarm(bed: Bed): Promise<Figure> {
  const times: number[] = []
  for (let time = 0; time < TIMES.warm; time += 1) times.push(await acceptMs(bed))
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

/** The encode as the service does it and by itself in the same container, in turn. */
async function measureEncode({ service, caller }: Bed, lab: Lab): Promise<Figure[]> {
  const path = await makeMedia(lab.makeFolder(), "source.mp4", SOURCE)
  const file = await uploadFile(caller, "source.mp4", await readMedia(path))
  await untilSuccess(caller, `/v1/files/${file.id}`)
  const [container = ""] = await service.containers()
  await docker("cp", path, `${container}:/work/source.mp4`)
  const times: Record<"task" | "encode" | "bare", number[]> = { task: [], encode: [], bare: [] }
  for (let time = 0; time < TIMES.encode; time += 1) {
    const id = await submitCommand(caller, {
      ffmpeg_command: `ffmpeg -i {{in_1}} ${WORDS} {{out_1}}`,
      input_files: { in_1: `svc_id://${file.id}` },
      output_files: { out_1: "encoded.mp4" },
    })
    await untilSuccess(caller, `/v1/commands/${id}`, POLL_MS)
    const ended = await findSaid(service, "task.ended", id)
    times.task.push(momentOf(ended) - momentOf(await findSaid(service, "task.accepted", id)))
    times.encode.push((ended.processing_seconds ?? 0) * 1000)
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

/** From the submit of a short command until a runner said that it took it. */
async function acceptMs({ service, caller }: Bed): Promise<number> {
  const beganAt = Date.now()
  const id = await submitCommand(caller, {
    ffmpeg_command: SHORT,
    input_files: {},
    output_files: { out_1: "out.mp4" },
  })
  await untilSuccess(caller, `/v1/commands/${id}`)
  return momentOf(await findSaid(service, "task.accepted", id)) - beganAt
}

const line = z.object({
  event: z.string(),
  at: z.iso.datetime(),
  job_id: z.string(),
  processing_seconds: z.number().optional(),
})

type Said = z.infer<typeof line>

/** A container has the clock of this machine. */
function momentOf({ at }: Said): number {
  return Date.parse(at)
}

/** What the runner said of a job. */
async function findSaid(service: ImageService, event: string, jobId: string): Promise<Said> {
  const lastAt = Date.now() + EVENT_MS_MAX
  while (Date.now() < lastAt) {
    const [container = ""] = await service.containers()
    const lines = (await docker("logs", container)).split("\n").map(parseLine)
    const said = lines.find((each) => each?.event === event && each.job_id === jobId)
    if (said) return said
    await sleep(50)
  }
  throw new Error(`no runner said ${event} of ${jobId}`)
}

function parseLine(text: string) {
  return text.startsWith("{") ? line.safeParse(JSON.parse(text)).data : undefined
}
