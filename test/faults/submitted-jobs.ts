import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { newId } from "../../src/platform/ids.ts"
import { readJson } from "./bed.ts"
import type { Bed } from "./bed.ts"

/** A job that was accepted, and how it has to end. */
export type AcceptedJob = {
  id: string
  room: "commands" | "files" | "fetch" | "normalize" | "transcribe" | "jobs"
  name: string
  /** The code of its failure; none where it is to succeed. */
  errorCode: string | null
  /** Codecs of each output, by its key. */
  outputs: Record<string, string[]>
  /** Codecs of each of its renditions, in their order. */
  renditions?: string[][]
  /** Expected checksum of its only file. */
  sha256?: string
  /** A word that its transcript has to have. */
  says?: string
  /**
   * Which address of the web it is about, and how many bytes that has where they can be resumed.
   */
  sourcePath?: string
  sourceBytes?: number
  /** Whether a later run has to go on where an earlier one was. */
  readsOn?: boolean
}

/** Accepted batch, with its jobs by name. */
export type AcceptedBatch = { id: string; jobs: Record<string, AcceptedJob> }

/**
 * Accepted jobs, with the batch that they form if one request created them. A fault waits for the
 * injection point of the target.
 */
export type SubmittedJobs = { target: AcceptedJob; all: AcceptedJob[]; batch?: AcceptedBatch }

export type Order = {
  name: string
  commands: string[]
  outputs: Record<string, { name: string; codecs: string[] }>
  /** Names of outputs of several files, whose every file is to be there. */
  bundles?: Record<string, string>
  errorCode?: string
  priority?: number
}

const X264 = "-c:v libx264 -preset ultrafast"
const MP4 = { name: "out.mp4", codecs: ["h264", "aac"] }

const TARGET: Order = {
  name: "target",
  commands: [`ffmpeg -re -i {{in_1}} ${X264} -c:a aac {{out_1}}`],
  outputs: { out_1: MP4 },
  priority: 90,
}

/** An output that is too large for one part. */
export const LARGE: Order = {
  name: "large",
  commands: [
    "ffmpeg -f lavfi -i testsrc=size=1280x480:rate=25 -t 1.2 -c:v rawvideo -pix_fmt bgr24 {{out_1}}",
  ],
  outputs: { out_1: { name: "out.avi", codecs: ["rawvideo"] } },
  priority: 90,
}

const TWO_PASSES: Order = {
  name: "two passes",
  commands: [
    `ffmpeg -i {{in_1}} ${X264} -b:v 80k -pass 1 -an -f null -`,
    `ffmpeg -re -i {{in_1}} ${X264} -b:v 80k -pass 2 -c:a aac {{out_1}}`,
  ],
  outputs: { out_1: MP4 },
}

const SEVERAL_OUTPUTS: Order = {
  name: "several outputs",
  commands: [
    `ffmpeg -re -i {{in_1}} ${X264} -an {{out_1}} -vn -c:a libmp3lame {{out_2}} -an -r 4 {{out_3}}`,
  ],
  bundles: { out_3: "frame_%03d.jpg" },
  outputs: {
    out_1: { name: "picture.mp4", codecs: ["h264"] },
    out_2: { name: "sound.mp3", codecs: ["mp3"] },
  },
}

const FAILING: Order = {
  name: "failing",
  commands: ["ffmpeg -re -t 0.5 -i {{in_1}} -c:v no_such_codec {{out_1}}"],
  outputs: { out_1: MP4 },
  errorCode: "encoder_not_found",
}

const CANCELED: Order = {
  name: "canceled",
  commands: [`ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t 300 ${X264} {{out_1}}`],
  outputs: { out_1: MP4 },
  errorCode: "canceled",
}

/** An order that keeps a slot busy for a good second. */
const BLOCKER: Order = { ...TARGET, name: "blocker", priority: 100 }

const created = z.union([
  z.looseObject({ command_id: z.string() }).transform((body) => body.command_id),
  z.looseObject({ id: z.string() }).transform((body) => body.id),
])

/** Submits a job of every kind at once; `onTarget` is called before any other is asked for. */
export async function submitJobs(
  bed: Bed,
  onTarget: (id: string) => void,
  order = TARGET,
): Promise<SubmittedJobs> {
  const target = await submitCommand(bed, order)
  onTarget(target.id)
  const others = await Promise.all([
    ...[TWO_PASSES, SEVERAL_OUTPUTS, FAILING, CANCELED].map((order) => submitCommand(bed, order)),
    submitFile(bed),
  ])
  return { target, all: [target, ...others] }
}

/** Submits a job of each order by its name; `onTarget` is told of the named one, the first. */
export async function submitOrders<Order>(
  name: string,
  orders: Record<string, Order>,
  {
    submit,
    onTarget,
  }: {
    submit: (name: string, order: Order) => Promise<AcceptedJob>
    onTarget: (id: string) => void
  },
): Promise<SubmittedJobs> {
  const { [name]: first, ...others } = orders
  if (!first) throw new Error(`there is no order ${name}`)
  const target = await submit(name, first)
  onTarget(target.id)
  const entries = Object.entries(others)
  const submitted = await Promise.all(entries.map(([other, order]) => submit(other, order)))
  return { target, all: [target, ...submitted] }
}

/** Submits as many jobs as there are slots, all before others. */
export async function submitBlockers(bed: Bed, count: number): Promise<AcceptedJob[]> {
  return await Promise.all(Array.from({ length: count }, () => submitCommand(bed, BLOCKER)))
}

/** Cancels those submitted jobs that are to be canceled, some time after what went before. */
export async function cancelJobs(bed: Bed, { all }: SubmittedJobs): Promise<void> {
  await sleep(Math.random() * 300)
  for (const { id, errorCode } of all) {
    if (errorCode !== "canceled") continue
    const answer = await bed.call("POST", `/jobs/${id}/cancel`)
    await answer.body?.cancel()
    // 409: an earlier call, whose answer was lost, has canceled it.
    if (answer.status !== 200 && answer.status !== 409) {
      throw new Error(`a cancel was answered ${answer.status}`)
    }
  }
}

async function submitCommand(bed: Bed, order: Order): Promise<AcceptedJob> {
  const entries = Object.entries(order.outputs)
  const [only, ...more] = order.commands
  const body = JSON.stringify({
    ...(more.length > 0 ? { ffmpeg_commands: order.commands } : { ffmpeg_command: only }),
    input_files: { in_1: `svc_id://${bed.mediaFileId}` },
    output_files: {
      ...Object.fromEntries(entries.map(([key, { name }]) => [key, name])),
      ...order.bundles,
    },
    webhook: bed.receiver.url,
    priority: order.priority ?? 50,
  })
  // Sent again, it is the same job.
  const headers = { "content-type": "application/json", "idempotency-key": newId() }
  const asked = bed.call("POST", "/commands", () => ({ body, headers }))
  return {
    id: await readJson(created, asked),
    room: "commands",
    name: order.name,
    errorCode: order.errorCode ?? null,
    outputs: Object.fromEntries(entries.map(([key, { codecs }]) => [key, codecs])),
  }
}

async function submitFile(bed: Bed): Promise<AcceptedJob> {
  const headers = { "idempotency-key": newId() }
  const asked = bed.call("POST", "/files", () => {
    const body = new FormData()
    body.set("webhook", bed.receiver.url)
    body.set("file", bed.media, "upload.mp4")
    return { body, headers }
  })
  return {
    id: await readJson(created, asked),
    room: "files",
    name: "upload",
    errorCode: null,
    outputs: { file: ["h264", "aac"] },
  }
}
