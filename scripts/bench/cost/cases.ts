import { openSite } from "../../../test/support/site/site.ts"
import type { PoolName } from "../../../src/runner/pools.ts"
import { GREETING, speak } from "../../../test/support/speech.ts"
import { flite } from "../../setup/flite.ts"
import { ensureSteps } from "../../setup/step.ts"
import { jsonBody } from "../../local/client/caller.ts"
import type { Caller } from "../../local/client/caller.ts"
import { makeMedia, readMedia } from "../../local/client/media.ts"
import { uploadFile, uploadMedia } from "../../local/client/requests.ts"
import type { BenchScope } from "../scope.ts"

/** A kind of job: the pool of its longest task, and how one is sent; `path` is where and `body` what. */
export type CostCase = {
  name: string
  pool: PoolName
  send: (caller: Caller, webhook: string) => Promise<void>
  /** Whether a webhook tells of the end; else the answer does. */
  hasWebhook: boolean
}

const FILM =
  "-f lavfi -i testsrc=size=1280x720:rate=25 -f lavfi -i sine=frequency=440 -t 10 -c:v libx264 -c:a aac"
const SITE_PAGE = "/page/video"

/** A page to fetch from, whose host the service is to be allowed. */
export async function openPage(scope: BenchScope): Promise<{ host: string; url: string }> {
  const site = scope.use(await openSite())
  return { host: site.host, url: site.url(SITE_PAGE) }
}

/** The kinds of work: of ten seconds of 720p, of five of speech, or a second of a film of the web. */
export async function makeCases(
  caller: Caller,
  folder: string,
  pageUrl: string,
): Promise<CostCase[]> {
  const path = await makeMedia(folder, "film.mp4", FILM)
  const fileId = await uploadMedia(caller, path)
  const media = await readMedia(path)
  await ensureSteps([flite])
  const speech = await speak(folder, { name: "speech.wav", text: GREETING })
  const speechId = await uploadMedia(caller, speech)
  const source = `svc_id://${fileId}`
  function post(name: string, pool: PoolName, at: string, body: object): CostCase {
    async function send(by: Caller, webhook: string): Promise<void> {
      await by.ask("POST", at, jsonBody({ ...body, webhook }))
    }
    return { name, pool, send, hasWebhook: true }
  }
  function command(name: string, words: string): CostCase {
    return post(name, "media", "/v1/commands", {
      ffmpeg_command: `ffmpeg -i {{in_1}} ${words} {{out_1}}`,
      input_files: { in_1: source },
      output_files: { out_1: "out.mp4" },
    })
  }
  return [
    {
      name: "upload, probed",
      pool: "light",
      hasWebhook: false,
      async send(by) {
        const { ffprobe } = await uploadFile(by, "film.mp4", media, { prefer: "wait=60" })
        if (!ffprobe) throw new Error("a file that was probed has no ffprobe")
      },
    },
    command("command, copies", "-c copy"),
    command("command, encodes", "-c:v libx264 -preset medium -c:a copy"),
    post("normalize", "media", "/v1/normalize", { file_url: source }),
    post("transcode, 480p", "media", "/v1/transcode", {
      source,
      outputs: [{ codec: "h264", resolution: "480p" }],
    }),
    post("transcribe, 5 s", "speech", "/v1/transcribe", { file_url: `svc_id://${speechId}` }),
    post("fetch", "fetch", "/v1/fetch", { url: pageUrl }),
  ]
}
