import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import { newId } from "../../src/platform/ids.ts"
import { hashWavFile } from "../support/site/sound.ts"
import { LOGIN_COOKIE } from "../support/site/cookies.ts"
import { ensureMediaFolder } from "../support/site/media.ts"
import { readJson } from "./bed.ts"
import type { Bed } from "./bed.ts"
import { submitOrders } from "./submitted-jobs.ts"
import type { AcceptedJob, SubmittedJobs } from "./submitted-jobs.ts"

const MIB = 1024 ** 2
/** Eight parts, of which each takes longer than a part takes to be stored. */
const LARGE_BYTES = 64 * MIB
const LARGE_RATE = 24 * MIB
/** A file whose server knows no ranges, so that a later run begins anew. */
const PLAIN_BYTES = 20 * MIB
/** Slow enough for a fault in the middle. */
const CLIP_RATE = 200_000
const SEEDS = 1e6

export const WEB_TARGETS = [
  "large import",
  "plain import",
  "small import",
  "page import",
  "fetch",
  "command",
] as const
export type WebTarget = (typeof WEB_TARGETS)[number]

type WebOrder = {
  room: AcceptedJob["room"]
  body: object
  ends: Partial<AcceptedJob>
  /** The address whose bytes the job is about. */
  sourcePath: string
}

const created = z.union([
  z.looseObject({ fetch_id: z.string() }).transform((body) => body.fetch_id),
  z.looseObject({ command_id: z.string() }).transform((body) => body.command_id),
  z.looseObject({ id: z.string() }).transform((body) => body.id),
])

/**
 * Submits a job of every kind that goes to the web; `onTarget` is told of the named one, the first.
 */
export function submitWeb(name: WebTarget) {
  return async (bed: Bed, onTarget: (id: string) => void): Promise<SubmittedJobs> => {
    const orders = await makeOrders(bed)
    return await submitOrders(name, orders, {
      submit: async (each, order: WebOrder) => await submit(bed, each, order),
      onTarget,
    })
  }
}

type WebOrders = Record<string, WebOrder> & Record<WebTarget, WebOrder>

async function makeOrders(bed: Bed): Promise<WebOrders> {
  const tag = newId()
  const clip = await readFile(join(await ensureMediaFolder(), "clip.mp4"))
  const sha256 = createHash("sha256").update(clip).digest("hex")
  function clipPath(name: string): string {
    return `/as/${name}-${tag}.mp4?file=clip.mp4&rate=${CLIP_RATE}`
  }
  function url(path: string): string {
    return bed.source.url(path)
  }
  function file(path: string, sourcePath: string, ends: WebOrder["ends"]): WebOrder {
    return { room: "files", body: { file_url: url(path) }, sourcePath, ends }
  }
  function fetched(body: object, sourcePath: string, ends: WebOrder["ends"]): WebOrder {
    return { room: "fetch", body, sourcePath, ends }
  }
  const small = clipPath("small")
  const missing = `/status/404?${tag}`
  const never = `/as/never-${tag}.mp4?file=clip.mp4&rate=1200`
  const members = { url: url("/cookies/page"), cookies: cookiesFor(bed.source.host) }
  return {
    ...soundOrders(tag, file),
    "small import": file(small, small, { sha256 }),
    "page import": file(pageOf(clipPath("page")), clipPath("page"), { sha256 }),
    fetch: fetched({ url: url(pageOf(clipPath("fetch"))) }, clipPath("fetch"), { sha256 }),
    command: commandOrder(url(clipPath("one")), url(pageOf(clipPath("two"))), clipPath("one")),
    "fetch with cookies": fetched(members, "/cookies/page", { sha256 }),
    "failing import": file(missing, missing, { errorCode: "not_found" }),
    "canceled fetch": fetched({ url: url(never) }, never, { errorCode: "canceled" }),
  }
}

function soundOrders(
  tag: string,
  file: (path: string, sourcePath: string, ends: WebOrder["ends"]) => WebOrder,
): Pick<WebOrders, "large import" | "plain import"> {
  const seed = 1 + Math.floor(Math.random() * SEEDS)
  const large = `/sound/large-${tag}.wav?size=${LARGE_BYTES}&seed=${seed}&rate=${LARGE_RATE}`
  const manner = "range=no&etag=none&modified=no&length=none"
  const plain = `/sound/plain-${tag}.wav?size=${PLAIN_BYTES}&seed=${seed}&${manner}`
  const largeEnd = { sha256: hashWavFile(LARGE_BYTES, seed), sourceBytes: LARGE_BYTES }
  return {
    "large import": file(large, large, largeEnd),
    "plain import": file(plain, plain, { sha256: hashWavFile(PLAIN_BYTES, seed) }),
  }
}

function commandOrder(one: string, two: string, sourcePath: string): WebOrder {
  return {
    room: "commands",
    body: {
      ffmpeg_command: "ffmpeg -i {{in_1}} -i {{in_2}} -map 0:v -map 1:a -c copy -t 1.2 {{out_1}}",
      input_files: { in_1: one, in_2: two },
      output_files: { out_1: "out.mp4" },
    },
    sourcePath,
    ends: { outputs: { out_1: ["h264", "aac"] } },
  }
}

/** A page whose video is at a path. */
function pageOf(path: string): string {
  return `/toward/video?to=${encodeURIComponent(path)}`
}

function cookiesFor(host: string): string {
  const [name = "", value = ""] = LOGIN_COOKIE.split("=")
  return [host.split(":")[0], "FALSE", "/", "FALSE", "0", name, value].join("\t")
}

async function submit(
  bed: Bed,
  name: string,
  { room, body, ends, sourcePath }: WebOrder,
): Promise<AcceptedJob> {
  const headers = { "content-type": "application/json", "idempotency-key": newId() }
  const text = JSON.stringify({ ...body, webhook: bed.receiver.url })
  const asked = bed.call("POST", `/${room}`, () => ({ body: text, headers }))
  const id = await readJson(created, asked)
  return { id, room, name, errorCode: null, outputs: {}, sourcePath, ...ends }
}
