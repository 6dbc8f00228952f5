import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import type { LoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { startReceiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const run = promisify(execFile)

const job = z.looseObject({
  id: z.string(),
  kind: z.literal("ffmpeg"),
  status: z.string(),
  outputs: z.array(z.looseObject({ url: z.url() })),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  processing_errors: z.array(z.string()).optional(),
})

const SUBTITLES = "1\n00:00:00,000 --> 00:00:01,000\nHello\n"

let service: TestService
let web: LoopbackServer
let key: string
let folder: string
let clip: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-ffmpeg-"))
  const path = join(folder, "clip.mp4")
  const sources = ["testsrc2=s=160x120:r=10:d=1", "sine=d=1"].flatMap((source) => {
    return ["-f", "lavfi", "-i", source]
  })
  await run("ffmpeg", ["-v", "error", ...sources, "-c:v", "libx264", "-c:a", "aac", path])
  const film = await readFile(path)
  web = await startLoopbackServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1")
    const content = pathname.endsWith(".srt") ? SUBTITLES : film
    const type = pathname.endsWith(".srt") ? "application/x-subrip" : "video/mp4"
    response.writeHead(200, { "content-type": type }).end(content)
  })
  service = await startService({ ALLOWED_PRIVATE_HOSTS: "127.0.0.1" })
  key = await service.makeKey("ffmpeg")
  const body = new FormData()
  body.append("file", new Blob([film]), "clip.mp4")
  const answer = await call("/files", { method: "POST", body })
  clip = z.looseObject({ id: z.string() }).parse(await answer.json()).id
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await web[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { prefer: "wait=30", ...Object.fromEntries(new Headers(init.headers)) }
  const url = path.startsWith("http") ? path : `${service.origin}/v1${path}`
  return await fetch(url, { ...init, headers: { ...headers, "x-api-key": key } })
}

async function post(inputs: string[], command: string, more: Record<string, unknown> = {}) {
  return await call("/ffmpeg", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ inputs, command, ...more }),
  })
}

/** Runs a command and waits for its end. */
async function ffmpeg(inputs: string[], command: string, more: Record<string, unknown> = {}) {
  const answer = await post(inputs, command, more)
  if (answer.status !== 202) throw new Error(await answer.text())
  return job.parse(await answer.json())
}

function stored() {
  return `svc_id://${clip}`
}

/** Name, codec, size and length of the one output of a job that succeeded. */
function factsOf({ status, error, outputs }: z.infer<typeof job>) {
  expect([status, error]).toEqual(["completed", undefined])
  const [made, ...others] = outputs
  expect(others).toEqual([])
  const name = decodeURIComponent(made?.url.split("/").at(-1) ?? "")
  const seconds = made?.["duration_seconds"]
  return [name, made?.["codec"], made?.["resolution"], Math.round(Number(seconds) * 10) / 10]
}

describe("inputs", () => {
  it("are addressed by position, and the output is appended", async () => {
    const made = await ffmpeg(
      [stored(), stored()],
      "-i {{in_1}} -i in_2 -filter_complex hstack -an",
      {
        output_filename: "both.mkv",
      },
    )
    expect(factsOf(made)).toEqual(["both.mkv", "h264", "320x120", 1])
  })

  it("are addressed by URIs, even if a URI is the prefix of another", async () => {
    const [short, long] = [`${web.origin}/a.mp4`, `${web.origin}/a.mp4?x=1&name=b%20c:d`]
    const made = await ffmpeg(
      [short, long, stored()],
      `ffmpeg -i '${long}' -i ${short} -i ${stored()} -filter_complex "[0:v][1:v][2:v]concat=n=3" all.mp4`,
    )
    expect(factsOf(made)).toEqual(["all.mp4", "h264", "160x120", 3])
  })

  it("are addressed in filters too, by position and by URI", async () => {
    const texts = `${web.origin}/texts.srt?lang=de`
    const films = [stored(), texts, `${web.origin}/logo.mp4`]
    const byPlace = '-i in_1 -vf subtitles=in_2 -t 0.5 -f mp4 "my film.mp4"'
    expect(factsOf(await ffmpeg(films, byPlace))).toEqual(["my film.mp4", "h264", "160x120", 0.5])
    const byUri = `-i in_1 -vf "movie='${films[2]}',scale=40:-2[l];[in]subtitles=${texts}[s];[s][l]overlay" -an {{out_1}}`
    const made = await ffmpeg(films, byUri, { output_filename: "marked.mp4" })
    expect(factsOf(made)).toEqual(["marked.mp4", "h264", "160x120", 1])
  })
})

describe("an output", () => {
  it("is the last word that is no option", async () => {
    const made = await ffmpeg([stored()], "-i in_1 -vn -c:a copy -metadata title=in_1 sound.m4a -y")
    expect(factsOf(made)).toEqual(["sound.m4a", "aac", undefined, 1])
  })

  it.each<[string, string, string | undefined, RegExp]>([
    ["a playlist", "-i in_1 -c copy -f hls index.m3u8", undefined, /^#EXTM3U[^]*index0\.ts/],
    [
      "a list of segments",
      "-i in_1 -c copy -f segment -segment_list {{out_1}} part_%03d.ts",
      "list.m3u8",
      /^#EXTM3U[^]*part_000\.ts/,
    ],
    ["a series", "-i in_1 -r 2 -c:v png frame_%03d.png", undefined, /^PK[^]*frame_002\.png/],
  ])("may be %s", async (_, command, output_filename, content) => {
    const { status, outputs } = await ffmpeg([stored()], command, { output_filename })
    expect(status).toBe("completed")
    const answer = await call(outputs[0]?.url ?? "")
    expect(Buffer.from(await answer.arrayBuffer()).toString("latin1")).toMatch(content)
  })
})

describe("a command", () => {
  it("reports the cause of its failure with the output of ffmpeg", async () => {
    const { status, error, processing_errors } = await ffmpeg(
      [stored()],
      "-i in_1 -c:v libnothing out.mp4",
    )
    expect([status, error?.code]).toEqual(["failed", "encoder_not_found"])
    expect(error?.message).toContain("libnothing")
    expect(processing_errors?.[0]).toBe(error?.message)
    expect(processing_errors?.slice(1).join("\n")).toContain("Unknown encoder 'libnothing'")
    expect(JSON.stringify(processing_errors)).not.toContain(tmpdir())
  })

  it.each(["webhook_url", "webhook"])("sends its Job to %s at its end", async (field) => {
    await using receiver = await startReceiver()
    const made = await ffmpeg([], "-f lavfi -i sine=d=0.1", {
      output_filename: "tone.wav",
      [field]: `${receiver.origin}/hook`,
    })
    const [received] = await receiver.untilReceived(1)
    const told = z.looseObject({ data: z.unknown() }).parse(JSON.parse(received?.body ?? "{}"))
    expect(job.parse(told.data)).toMatchObject({ id: made.id, outputs: made.outputs })
  })
})
