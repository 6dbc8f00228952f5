import { writeFile } from "node:fs/promises"
import { basename, dirname } from "node:path"
import { buffer } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { CliError } from "../../local/cli-error.ts"
import { fileBody, openCaller } from "../caller.ts"
import type { Caller } from "../caller.ts"
import { readMedia, runBare } from "../media.ts"
import type { BenchScope } from "../scope.ts"
import type { Contender } from "../short/contender.ts"
import { systemTools } from "../short/system-tools.ts"
import { startCheckout } from "./checkout.ts"
import type { RunningPeer } from "./checkout.ts"

const RETRY_MS = 200
const READY_MS_MAX = 60_000
const PICTURE_HASH = "-map 0:v -c copy -f md5 -".split(" ")

const probed = z.object({ streams: z.array(z.unknown()).min(1) })

/**
 * ffmpeg-rest at work on a film of the disk: an upload is answered with its result, and no file
 * stays. `redisUrl`: a Redis that it may use. Throws a CliError where it does not come up, or does
 * other work than a remux.
 */
export async function openFfmpegRest(
  scope: BenchScope,
  checkout: string,
  { path, redisUrl }: { path: string; redisUrl: string | undefined },
): Promise<Contender> {
  const running = await startCheckout(scope, checkout, redisUrl)
  const caller = openCaller(running.origin)
  scope.defer(() => caller.close())
  const film = await readMedia(path)
  async function probe(): Promise<void> {
    const { text } = await caller.ask("POST", "/media/info", fileBody(basename(path), film))
    probed.parse(JSON.parse(text))
  }
  async function remux(): Promise<Buffer> {
    return await convert(caller, fileBody(basename(path), film))
  }
  await untilReady(running, probe)
  await requireCopy(path, await remux())
  return { probe, remux: async () => void (await remux()), remuxStored: null }
}

async function convert(caller: Caller, body: ReturnType<typeof fileBody>): Promise<Buffer> {
  const answer = await caller.open("/video/mp4", body)
  const bytes = await buffer(answer)
  if (answer.statusCode === 200 && bytes.byteLength > 0) return bytes
  throw new Error(`POST /video/mp4 was answered ${answer.statusCode}: ${bytes.toString()}`)
}

/** Probes until that succeeds: its server waits for Redis, and a probe for its worker. */
async function untilReady({ programs }: RunningPeer, probe: () => Promise<void>): Promise<void> {
  const over = new AbortController()
  const last = { problem: "it did not answer" }
  async function tryOn(): Promise<null> {
    while (!over.signal.aborted) {
      try {
        await probe()
        return null
      } catch (error) {
        last.problem = String(error)
        await sleep(RETRY_MS)
      }
    }
    return null
  }
  const problem = await Promise.race([
    tryOn(),
    ...programs.map(async (program) => `a process of it ended with ${await program.exited}`),
    sleep(READY_MS_MAX, undefined, { ref: false }).then(() => last.problem),
  ])
  over.abort()
  if (problem === null) return
  const words = programs.map((program) => Object.values(program.tail()).join("\n").trim())
  throw new CliError(`ffmpeg-rest did not come up: ${problem}.\n${words.join("\n")}`.trim())
}

/** Some versions of it encode anew what others copy, which would compare two kinds of work. */
async function requireCopy(path: string, answer: Buffer): Promise<void> {
  const copied = `${path}.answer`
  await writeFile(copied, answer)
  const [ours, theirs] = [await hashPicture(path), await hashPicture(copied)]
  if (ours === theirs) return
  throw new CliError("This ffmpeg-rest encodes an mp4 of H.264 and AAC anew: take one that copies.")
}

async function hashPicture(path: string): Promise<string> {
  const words = ["-v", "error", "-nostdin", "-f", "mp4", "-i", basename(path), ...PICTURE_HASH]
  return await runBare(systemTools.ffmpeg, words, dirname(path))
}
