import { readFile } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { startLoopbackServer } from "../../cli/loopback-server.ts"
import { createApiCaller } from "../../cli/client/caller.ts"
import type { ApiCaller } from "../../cli/client/caller.ts"
import { makeIncompressibleBody } from "../incompressible-body.ts"
import { makeMediaFile, SMALL_MEDIA_ARGUMENTS } from "../../cli/client/media.ts"
import { submitCommand, waitUntilFinal, uploadFile } from "../../cli/client/requests.ts"
import type { BenchResources } from "../scope.ts"

/**
 * Numbers of commands, failed commands, uploads and received webhooks since the start of the load.
 */
export type MixedLoadCounts = {
  commands: number
  failed: number
  uploads: number
  webhooks: number
}

export type MixedLoad = {
  callers: ApiCaller[]
  commandsPerMinute: number
  isOver: () => boolean
}

type Media = Awaited<ReturnType<typeof readMixedMedia>>
type Work = { media: Media; webhook: string; tally: MixedLoadCounts }

const FILM =
  "-f lavfi -i testsrc=size=640x360:rate=25 -f lavfi -i sine=frequency=440 -t 2 " +
  "-c:v libx264 -preset ultrafast -b:v 300k -c:a aac"
const BYTES_OF_LARGE = 16 * 1024 ** 2
/** Number of commands per upload, and number of uploads per large upload. */
const COMMANDS_PER_UPLOAD = 2
const UPLOADS_PER_LARGE = 16
const POLL_MS = 100

/** Commands that the callers run in turn. The last one fails. */
const COMMANDS = [
  { line: "ffmpeg -i {{in_1}} -c copy {{out_1}}", output: "copy.mp4" },
  { line: "ffmpeg -ss 0.5 -i {{in_1}} -frames:v 1 {{out_1}}", output: "thumbnail.jpg" },
  {
    line: "ffmpeg -i {{in_1}} -t 0.5 -c:v libx264 -preset veryfast -c:a aac {{out_1}}",
    output: "encode.mp4",
  },
  { line: "ffmpeg -i {{in_1}} -c copy {{out_1}}", output: "copy.mkv" },
  { line: "ffmpeg -i {{in_1}} -vn -c:a copy {{out_1}}", output: "sound.m4a" },
  { line: "ffmpeg -i {{in_1}} -vf crop=9000:9000 {{out_1}}", output: "none.mp4" },
]

const files = z.object({
  output_files: z.record(z.string(), z.object({ download_url: z.string() })),
})

/**
 * Runs a mixed load until it is over and the last commands are final. Each caller uploads videos,
 * runs short commands on them, receives webhooks, downloads outputs, and lists commands and files.
 * All callers together keep the pace of `commandsPerMinute`.
 */
export async function runMixedLoad(
  scope: BenchResources,
  load: MixedLoad,
): Promise<MixedLoadCounts> {
  const tally: MixedLoadCounts = { commands: 0, failed: 0, uploads: 0, webhooks: 0 }
  const receiver = scope.use(
    await startLoopbackServer((request, response) => {
      request.resume()
      if (request.method === "POST") tally.webhooks += 1
      response.end()
    }),
  )
  const work = { media: await readMixedMedia(scope), webhook: receiver.origin, tally }
  const turns = takeTurns(load)
  await Promise.all(load.callers.map((caller) => runCaller(caller, work, turns)))
  return tally
}

async function readMixedMedia(scope: BenchResources) {
  const folder = await scope.makeFolder()
  return {
    film: await readFile(await makeMediaFile(folder, "film.mp4", FILM)),
    clip: await readFile(await makeMediaFile(folder, "clip.mp4", SMALL_MEDIA_ARGUMENTS)),
  }
}

/**
 * Yields consecutive command numbers, each at the time when its command is due. Yields at once if
 * that time has passed.
 */
async function* takeTurns({ commandsPerMinute, isOver }: MixedLoad): AsyncGenerator<number, void> {
  const startedMs = performance.now()
  for (let turn = 0; !isOver(); turn += 1) {
    const dueMs = startedMs + (turn * 60_000) / commandsPerMinute
    await sleep(Math.max(0, dueMs - performance.now()))
    yield turn
  }
}

async function runCaller(
  caller: ApiCaller,
  work: Work,
  turns: AsyncGenerator<number, void>,
): Promise<void> {
  let fileId = await upload(caller, work)
  for (let own = 1; ; own += 1) {
    const { done, value: turn } = await turns.next()
    if (done === true) return
    if (own % COMMANDS_PER_UPLOAD === 0) fileId = await upload(caller, work)
    await runCommand(caller, { fileId, turn, work })
    await caller.ask("GET", "/v1/commands?limit=20")
    await caller.ask("GET", "/v1/files?limit=20")
  }
}

/**
 * Uploads a video and waits for its probe. Sometimes also uploads a large file. Returns the id of
 * the video.
 */
async function upload(caller: ApiCaller, { media, tally }: Work): Promise<string> {
  tally.uploads += 1
  if (tally.uploads % UPLOADS_PER_LARGE === 0) {
    await uploadFile(caller, "junk.bin", makeIncompressibleBody(BYTES_OF_LARGE), {
      prefer: "wait=30",
    })
  }
  const bytes = tally.uploads % 2 === 0 ? media.film : media.clip
  const file = { sizeBytes: bytes.byteLength, chunks: [bytes] }
  return (await uploadFile(caller, "film.mp4", file, { prefer: "wait=30" })).id
}

async function runCommand(
  caller: ApiCaller,
  { fileId, turn, work }: { fileId: string; turn: number; work: Work },
): Promise<void> {
  const { line = "", output = "" } = COMMANDS[turn % COMMANDS.length] ?? {}
  const id = await submitCommand(caller, {
    ffmpeg_command: line,
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: output },
    webhook: work.webhook,
  })
  work.tally.commands += 1
  const { status } = await waitUntilFinal(caller, `/v1/commands/${id}`, { pollMs: POLL_MS })
  if (status === "failed") work.tally.failed += 1
  else await download(caller, id)
}

/** Downloads the first output of a command through its signed link. */
async function download(caller: ApiCaller, id: string): Promise<void> {
  const { text } = await caller.ask("GET", `/v1/commands/${id}`)
  const { output_files: outputs } = files.parse(JSON.parse(text))
  const redirect = await caller.open(new URL(outputs["out_1"]?.download_url ?? "").pathname)
  redirect.resume()
  const link = new URL(redirect.headers.location ?? "")
  const client = createApiCaller(link.origin)
  try {
    for await (const chunk of await client.open(link.pathname + link.search)) void chunk
  } finally {
    client.close()
  }
}
