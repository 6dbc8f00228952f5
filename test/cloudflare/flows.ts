import { createHash } from "node:crypto"
import { openAsBlob } from "node:fs"
import { basename } from "node:path"
import { z } from "zod"
import { makeMediaFile, SMALL_MEDIA_ARGUMENTS } from "../../scripts/cli/client/media.ts"
import { explainMissingSpeechModel } from "../support/media/speech.ts"
import type { KeyedCall } from "../system/operate/keyed-call.ts"
import type { Rig } from "./rig.ts"
import { BODY_BYTES_MAX } from "./switches.ts"
import type { Switch } from "./switches.ts"

/** A kind of work from the request to its webhook; throws where it does not come to a good end. */
export type Flow = (of: {
  rig: Rig
  call: KeyedCall
  switches: ReadonlySet<Switch>
  /** Where the flow's own webhook goes. */
  webhook: string
}) => Promise<void>

const END_MS_MAX = 240_000
/**
 * Above the size from which an output goes in parts, and the second of a wave file is an import's
 * part.
 */
const RAW_VIDEO = "-map 1:v -t 2 -c:v rawvideo -pix_fmt rgb24"
const SOUND_BYTES = 12_000_000
const TONE = "-f lavfi -i sine=frequency=440:duration=3 -ar 16000"

const record = z.looseObject({
  id: z.string(),
  status: z.string(),
  download_url: z.string().optional(),
})
const commandRecord = record.extend({
  output_files: z.record(
    z.string(),
    z.looseObject({ download_url: z.string(), size_bytes: z.int() }),
  ),
})
const jobRecord = z.looseObject({ outputs: z.array(z.looseObject({ url: z.string() })).min(1) })

/** Why no speech can be written down on this machine; null where it can. */
export const LACK_OF_SPEECH = await explainMissingSpeechModel()

export const FLOWS = {
  upload,
  command,
  importing,
  fetching,
  normalize,
  transcribe,
  transcode,
  largeBody,
}

/** Stores a file that comes with the request, and reads back what was stored. */
async function upload({ rig, call }: Parameters<Flow>[0]): Promise<void> {
  const path = await makeMediaFile(rig.folder, "small.mp4", SMALL_MEDIA_ARGUMENTS)
  const file = await uploadFile(call, path)
  const stored = await call(file.download_url ?? "")
  expectSame(await stored.bytes(), await (await openAsBlob(path)).bytes())
}

/**
 * Has a command write a small output and a large one in parts, and a second one read the large one.
 */
async function command({ rig, call, webhook }: Parameters<Flow>[0]): Promise<void> {
  const input = await uploadFile(
    call,
    await makeMediaFile(rig.folder, "in.mp4", SMALL_MEDIA_ARGUMENTS),
  )
  const first = await runCommand(call, {
    ffmpeg_command:
      "ffmpeg -i {{in_1}} -f lavfi -i testsrc=s=640x480:r=25 " +
      `-map 0:v -vf scale=32:32 {{out_1}} ${RAW_VIDEO} {{out_2}}`,
    input_files: { in_1: `svc_id://${input.id}` },
    output_files: { out_1: "small.mp4", out_2: "large.avi" },
    webhook,
  })
  const { out_1: small, out_2: large } = first.output_files
  if (!small || !large) throw new Error("an output is missing")
  const bytes = await (await call(large.download_url)).bytes()
  if (bytes.length !== large.size_bytes) throw new Error("the large output was cut")
  await runCommand(call, {
    ffmpeg_command: "ffmpeg -i {{in_1}} -frames:v 1 {{out_1}}",
    input_files: { in_1: large.download_url.replace(/^.*\/files\/([^/]+)\/.*$/, "svc_id://$1") },
    output_files: { out_1: "first.png" },
  })
}

/** Brings in what a URL names, in parts. */
async function importing({ rig, call, webhook }: Parameters<Flow>[0]): Promise<void> {
  const path = `/sound/long.wav?size=${SOUND_BYTES}&seed=7`
  const file = await untilEnd(call, "/files", { file_url: rig.url(path), webhook })
  const [stored, sent] = await Promise.all([
    call(file.download_url ?? ""),
    fetch(rig.site.url(path)),
  ])
  expectSame(await stored.bytes(), await sent.bytes())
}

/** Fetches the video of a page. */
async function fetching({ rig, call, webhook }: Parameters<Flow>[0]): Promise<void> {
  const fetched = await untilEnd(call, "/fetch", { url: rig.url("/page/video"), webhook })
  const media = await call(fetched.download_url ?? "", { headers: { range: "bytes=4-7" } })
  if ((await media.text()) !== "ftyp") throw new Error("it is no video")
}

async function normalize({ rig, call, webhook }: Parameters<Flow>[0]): Promise<void> {
  const input = await uploadFile(call, await makeMediaFile(rig.folder, "tone.wav", TONE))
  await untilEnd(call, "/normalize", { file_url: `svc_id://${input.id}`, webhook })
}

/** Has a tone written down, in which nothing is said. */
async function transcribe({ rig, call, webhook }: Parameters<Flow>[0]): Promise<void> {
  const input = await uploadFile(call, await makeMediaFile(rig.folder, "tone.wav", TONE))
  await untilEnd(call, "/transcribe", { file_url: `svc_id://${input.id}`, webhook })
}

async function transcode({ rig, call, webhook }: Parameters<Flow>[0]): Promise<void> {
  const input = await uploadFile(
    call,
    await makeMediaFile(rig.folder, "in.mp4", SMALL_MEDIA_ARGUMENTS),
  )
  const outputs = [{ codec: "h264", resolution: "480p" }]
  const body = { source: `svc_id://${input.id}`, outputs, webhook_url: webhook }
  const { outputs: made } = jobRecord.parse(await untilEnd(call, "/transcode", body, "/jobs"))
  const media = await call(made[0]?.url ?? "", { headers: { range: "bytes=4-7" } })
  if ((await media.text()) !== "ftyp") throw new Error("it is no video")
}

/** Sends a body that the platform refuses in front of the Worker: another way takes what it has. */
async function largeBody({ rig, call, switches }: Parameters<Flow>[0]): Promise<void> {
  if (!switches.has("body-limit")) return
  const body = new Blob([new Uint8Array(BODY_BYTES_MAX + 1)])
  const headers = { "content-type": "video/mp4" }
  const answer = await call("/files", { method: "POST", headers, body }).catch(() => null)
  const type = answer?.headers.get("content-type")
  if (answer && (answer.status !== 413 || type !== "text/html")) {
    throw new Error(`a body above the limit of the platform was answered ${answer.status}`)
  }
  const path = `/sound/large.wav?size=${BODY_BYTES_MAX + 1}&seed=1`
  await untilEnd(call, "/files", { file_url: rig.url(path) })
}

async function uploadFile(call: KeyedCall, path: string) {
  const body = new FormData()
  body.append("file", await openAsBlob(path), basename(path))
  const answer = await call("/files", { method: "POST", body })
  if (!answer.ok) throw new Error(await answer.text())
  return await readEnd(call, `/files/${record.parse(await answer.json()).id}`)
}

async function runCommand(call: KeyedCall, body: object) {
  return commandRecord.parse(await untilEnd(call, "/commands", body))
}

/** Creates a record at a path and reads it at its good end. */
async function untilEnd(call: KeyedCall, path: string, body: object, records = path) {
  const headers = { "content-type": "application/json" }
  const answer = await call(path, { method: "POST", headers, body: JSON.stringify(body) })
  const made: unknown = await answer.json()
  const id = z.record(z.string(), z.unknown()).parse(made)
  if (!answer.ok) throw new Error(JSON.stringify(made))
  const own = Object.entries(id).find(([name]) => name === "id" || name.endsWith("_id"))
  return await readEnd(call, `${records}/${String(own?.[1])}`)
}

async function readEnd(call: KeyedCall, path: string) {
  const until = performance.now() + END_MS_MAX
  for (;;) {
    const answer = await call(path, { headers: { prefer: "wait=20" } })
    const shown = record.parse(await answer.json())
    if (shown.status === "success" || shown.status === "completed") return shown
    if (shown.status === "failed") throw new Error(`${path} failed: ${JSON.stringify(shown)}`)
    if (performance.now() > until) throw new Error(`${path} is ${shown.status} yet`)
  }
}

function expectSame(one: Uint8Array, other: Uint8Array): void {
  const [first, second] = [one, other].map((bytes) =>
    createHash("sha256").update(bytes).digest("hex"),
  )
  if (first !== second)
    throw new Error(`${one.length} bytes are not those ${other.length} that were sent`)
}
