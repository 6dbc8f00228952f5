import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { findFreePort } from "../../../scripts/cli/ports.ts"
import { startNodeProgram, waitForReadyLine } from "../../../scripts/cli/program.ts"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { findMediaTools } from "../../../scripts/cli/media-tools.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { collectLines } from "../operate/log-lines.ts"
import type { Printed } from "../operate/log-lines.ts"
import { startService } from "../service.ts"

const FOLDER = "examples/lecture-publisher"
const SPEECH = "scripts/demo/speech/clip.mp3"
const REQUESTS_MAX = 20

const lecture = z.object({
  stills: z.array(z.url()).length(4).optional(),
  films: z.array(z.url()).optional(),
  error: z.string().optional(),
})
const loggedRequest = z.object({
  event: z.literal("request.answered"),
  path: z.string().startsWith("/v1/"),
  status: z.int(),
})

test("the lecture publisher makes all files of a lecture with few requests, all of them right", async () => {
  await using stack = new AsyncDisposableStack()
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const settings = { ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}`, CORS_ORIGINS: origin }
  const service = stack.use(await startService(settings))
  const printed = collectLines(service)
  const LATHE_KEY = await service.makeKey("lectures", "paid")
  const environment = { LATHE: service.origin, LATHE_KEY, PORT: String(port) }
  const example = stack.use(
    startNodeProgram({
      words: [`${FOLDER}/publisher.mjs`],
      environment: { ...makeChildEnvironment(), ...environment },
      echoesErrors: true,
    }),
  )
  await waitForReadyLine(example, /^Publish lectures at /)
  const before = readRequests(printed).length
  const watching = new AbortController()
  stack.defer(() => watching.abort())
  const events = await fetch(`${origin}/events`, { signal: watching.signal })

  await uploadAsThePage(origin)
  const last = await readUntilEnd(events)

  expect(last.error).toBeUndefined()
  const urls = [...(last.stills ?? []), ...(last.films ?? [])]
  expect(urls.map((url) => new URL(url).pathname.split("/").at(-1))).toEqual([
    "poster.jpg",
    "storyboard.jpg",
    "waveform.png",
    "clip.gif",
    "lecture_240p_h264.mp4",
    "lecture_360p_h264.mp4",
  ])
  for (const url of urls) expect((await fetch(url)).status).toBe(200)
  const sent = readRequests(printed).slice(before)
  expect(sent.filter(({ status }) => status >= 400)).toEqual([])
  expect(sent.length).toBeLessThanOrEqual(REQUESTS_MAX)
})

/** Returns the requests to the API that the log has so far. */
function readRequests(printed: Printed): z.infer<typeof loggedRequest>[] {
  return printed.entries().flatMap((entry) => {
    const read = loggedRequest.safeParse(entry)
    return read.success ? [read.data] : []
  })
}

/** Uploads a film with the key and the address that the page has, from the origin of the page. */
async function uploadAsThePage(origin: string): Promise<void> {
  await using folder = await makeTempFolder("lecture")
  const path = join(folder.path, "lecture.mp4")
  const picture = ["-f", "lavfi", "-i", "testsrc2=s=640x360:r=10"]
  const encoding = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac"]
  const words = [...picture, "-i", SPEECH, "-t", "10", "-shortest", ...encoding, path]
  execFileSync(findMediaTools().ffmpeg, ["-v", "error", ...words])
  const page = await (await fetch(origin)).text()
  const [, url = ""] = /"(http[^"]+\/v1\/files)"/.exec(page) ?? []
  const [key = ""] = /lathe_[0-9A-Za-z]+/.exec(page) ?? []
  const form = new FormData()
  form.set("metadata", JSON.stringify({ title: "A lecture" }))
  form.set("file", new Blob([readFileSync(path)]), "lecture.mp4")
  const headers = { "x-api-key": key, origin }
  const answer = await fetch(url, { method: "POST", headers, body: form })
  expect(answer.headers.get("access-control-allow-origin")).toBe(origin)
  expect(answer.status).toBe(201)
}

/** Reads the events of the page until the lecture has its stills and films, or an error. */
async function readUntilEnd({ body }: Response): Promise<z.infer<typeof lecture>> {
  let text = ""
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const data = [...text.matchAll(/^data: (.*)\n\n/gm)].at(-1)?.[1]
    const shown = lecture.parse(JSON.parse(data ?? "{}"))
    if (shown.error !== undefined || (shown.stills && shown.films)) return shown
  }
  throw new Error(`The events of the page ended early: ${text.slice(-500)}`)
}
