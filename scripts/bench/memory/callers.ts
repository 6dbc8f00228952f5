import { readFile } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { startLoopbackServer } from "../../local/loopback-server.ts"
import { openCaller } from "../../local/client/caller.ts"
import type { Caller } from "../../local/client/caller.ts"
import { junk } from "../junk.ts"
import { makeMedia, SMALL_MEDIA } from "../../local/client/media.ts"
import { submitCommand, untilFinal, uploadFile } from "../../local/client/requests.ts"
import type { BenchScope } from "../scope.ts"

/** How much of what has been done so far. */
export type Tally = { commands: number; failed: number; uploads: number; webhooks: number }

export type MixedLoad = {
  callers: Caller[]
  commandsPerMinute: number
  isOver: () => boolean
}

type Media = Awaited<ReturnType<typeof readMixedMedia>>
type Work = { media: Media; webhook: string; tally: Tally }

const FILM =
  "-f lavfi -i testsrc=size=640x360:rate=25 -f lavfi -i sine=frequency=440 -t 2 " +
  "-c:v libx264 -preset ultrafast -b:v 300k -c:a aac"
const BYTES_OF_LARGE = 16 * 1024 ** 2
/** Every so manieth command brings a new file, and every so manieth of these is a large one. */
const COMMANDS_PER_UPLOAD = 2
const UPLOADS_PER_LARGE = 16
const POLL_MS = 100

/** Commands in turn: the last one fails. */
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
 * Has callers upload films, which are probed, run short commands on them at a pace of all together,
 * hear of their ends by webhook, download what they made, and list what there is, until the load is
 * over and their last commands are final.
 */
export async function runMixedLoad(scope: BenchScope, load: MixedLoad): Promise<Tally> {
  const tally: Tally = { commands: 0, failed: 0, uploads: 0, webhooks: 0 }
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

async function readMixedMedia(scope: BenchScope) {
  const folder = await scope.makeFolder()
  return {
    film: await readFile(await makeMedia(folder, "film.mp4", FILM)),
    clip: await readFile(await makeMedia(folder, "clip.mp4", SMALL_MEDIA)),
  }
}

/** Numbers of commands, each when it is due; callers that lag behind get theirs at once. */
async function* takeTurns({ commandsPerMinute, isOver }: MixedLoad): AsyncGenerator<number, void> {
  const startedMs = performance.now()
  for (let turn = 0; !isOver(); turn += 1) {
    const dueMs = startedMs + (turn * 60_000) / commandsPerMinute
    await sleep(Math.max(0, dueMs - performance.now()))
    yield turn
  }
}

async function runCaller(
  caller: Caller,
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

/** Uploads a film, or more than one piece of it, and waits for its probe; the file's id. */
async function upload(caller: Caller, { media, tally }: Work): Promise<string> {
  tally.uploads += 1
  if (tally.uploads % UPLOADS_PER_LARGE === 0) {
    await uploadFile(caller, "junk.bin", junk(BYTES_OF_LARGE), { prefer: "wait=30" })
  }
  const bytes = tally.uploads % 2 === 0 ? media.film : media.clip
  const file = { sizeBytes: bytes.byteLength, chunks: [bytes] }
  return (await uploadFile(caller, "film.mp4", file, { prefer: "wait=30" })).id
}

async function runCommand(
  caller: Caller,
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
  const { status } = await untilFinal(caller, `/v1/commands/${id}`, { pollMs: POLL_MS })
  if (status === "failed") work.tally.failed += 1
  else await download(caller, id)
}

/** Follows the link of a command's first output and reads all of it. */
async function download(caller: Caller, id: string): Promise<void> {
  const { text } = await caller.ask("GET", `/v1/commands/${id}`)
  const { output_files: outputs } = files.parse(JSON.parse(text))
  const redirect = await caller.open(new URL(outputs["out_1"]?.download_url ?? "").pathname)
  redirect.resume()
  const link = new URL(redirect.headers.location ?? "")
  const client = openCaller(link.origin)
  try {
    for await (const chunk of await client.open(link.pathname + link.search)) void chunk
  } finally {
    client.close()
  }
}
