import { execFile } from "node:child_process"
import { globSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import { startReceiver } from "../receiver.ts"
import type { Receiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const run = promisify(execFile)

const WEBHOOK_BYTES_MAX = 256_000
const TAG_LENGTH = 3_000_000
const TIMEOUT_MS = 240_000

const record = z.looseObject({
  id: z.string(),
  status: z.string(),
  error: z.string().optional(),
  error_code: z.string().optional(),
})
const output = z.looseObject({
  download_url: z.string(),
  files: z.array(z.looseObject({ name: z.string(), download_url: z.string() })).nullish(),
})
const command = record.extend({
  output_files: z.record(z.string(), output),
  original_request: z.looseObject({ ffmpeg_command: z.string().nullish() }),
})
const failedCommand = record.extend({ processing_errors: z.array(z.string()) })
const tags = z.looseObject({ COMMENT: z.string() })
const file = record.extend({
  ffprobe: z.looseObject({ format: z.looseObject({ tags: tags.nullable() }) }),
})
const event = z.looseObject({
  type: z.string(),
  data: z.looseObject({
    id: z.string(),
    status: z.string(),
    truncated: z.array(z.string()).optional(),
  }),
})

let service: TestService
let receiver: Receiver
let key: string
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-large-"))
  receiver = await startReceiver()
  service = await startService({ ALLOWED_PRIVATE_HOSTS: "127.0.0.1" })
  key = await service.makeKey("large")
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { prefer: "wait=60", ...Object.fromEntries(new Headers(init.headers)) }
  const url = path.startsWith("http") ? path : `${service.origin}/v1${path}`
  return await fetch(url, { ...init, headers: { ...headers, "x-api-key": key } })
}

async function read<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
): Promise<z.output<Schema>> {
  return schema.parse(await (await call(path)).json())
}

/** Runs a command that writes one output, and waits for its end. */
async function ffmpeg(line: string, name: string): Promise<z.output<typeof record>> {
  const body = {
    ffmpeg_command: line,
    input_files: {},
    output_files: { out_1: name },
    webhook: receiver.origin,
  }
  const headers = { "content-type": "application/json" }
  const made = await call("/commands", { method: "POST", headers, body: JSON.stringify(body) })
  const { id } = z
    .object({ command_id: z.string() })
    .transform(({ command_id }) => ({ id: command_id }))
    .parse(await made.json())
  for (;;) {
    const shown = await read(record, `/commands/${id}`)
    if (shown.status === "success" || shown.status === "failed") return shown
  }
}

/** The webhook that tells of a job's end, and how many bytes it has. */
async function webhookOf(id: string) {
  for (let count = 1; ; count += 1) {
    const received = await receiver.untilReceived(count)
    const { body } = received[count - 1] ?? { body: "" }
    const { type, data } = event.parse(JSON.parse(body))
    if (data.id === id) return { type, data, bytes: Buffer.byteLength(body) }
  }
}

/** Keys of the bucket's objects, without those of webhooks, which outlive what they tell of. */
function listObjects(): string[] {
  const paths = globSync(join(service.stateDir, "v3", "r2", "**", "*.sqlite"))
  return paths
    .filter((path) => !path.endsWith("metadata.sqlite"))
    .flatMap((path) => {
      using database = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
      return database.prepare("select key from _mf_objects").all()
    })
    .map((row) => String(row["key"]))
    .filter((name) => !name.includes("/deliveries/"))
}

/** A sound whose one tag has that many characters. */
async function makeTagged(length: number): Promise<Buffer> {
  const path = join(folder, "tagged.mkv")
  const metadata = join(folder, "tags.txt")
  await writeFile(metadata, `;FFMETADATA1\ncomment=${"long ".repeat(length / 5)}\n`)
  const words = "-v error -y -f lavfi -i sine=d=0.2 -f ffmetadata -i".split(" ")
  await run("ffmpeg", [...words, metadata, "-map", "0", "-map_metadata", "1", path])
  return await readFile(path)
}

it(
  "an upload with a tag of 3 MB succeeds, and only its webhook has the tag left out",
  async () => {
    const body = new FormData()
    body.append("file", new Blob([await makeTagged(TAG_LENGTH)]), "tagged.mkv")
    body.append("webhook", receiver.origin)
    const uploaded = record.parse(await (await call("/files", { method: "POST", body })).json())
    expect([uploaded.status, uploaded.error]).toEqual(["success", undefined])
    const { type, data, bytes } = await webhookOf(uploaded.id)
    expect([type, data.status]).toEqual(["file.succeeded", "success"])
    expect(bytes).toBeLessThanOrEqual(WEBHOOK_BYTES_MAX)
    expect(data.truncated).toEqual(["ffprobe.format.tags"])
    expect(data).toMatchObject({
      ffprobe: { format: { tags: null, format_name: "matroska,webm" } },
    })
    const whole = await read(file, `/files/${uploaded.id}`)
    expect(whole.ffprobe.format.tags?.COMMENT).toBe("long ".repeat(TAG_LENGTH / 5))
    const listed = await (await call("/files")).text()
    expect(Buffer.byteLength(listed)).toBeLessThan(64_000)
    expect((await call(`/files/${uploaded.id}`, { method: "DELETE" })).status).toBe(200)
    await expect.poll(listObjects).toEqual([])
  },
  TIMEOUT_MS,
)

it(
  "a command of 5,000 files with long names succeeds, and its deletion leaves no object",
  async () => {
    const name = `frame_${"of_a_long_name_".repeat(4)}%04d.bmp`
    const made = await ffmpeg("ffmpeg -f lavfi -i color=s=16x16:r=100:d=50 out_1", name)
    expect([made.status, made.error]).toEqual(["success", undefined])
    const { type, data, bytes } = await webhookOf(made.id)
    expect([type, data.status]).toEqual(["command.succeeded", "success"])
    expect(bytes).toBeLessThanOrEqual(WEBHOOK_BYTES_MAX)
    expect(data.truncated).toEqual(["output_files.out_1.files"])
    expect(command.parse(data).output_files["out_1"]?.files).toBeNull()
    const files = (await read(command, `/commands/${made.id}`)).output_files["out_1"]?.files ?? []
    expect(files).toHaveLength(5000)
    const picture = await call(files[4321]?.download_url ?? "")
    expect(picture.status).toBe(200)
    expect((await picture.arrayBuffer()).byteLength).toBeGreaterThan(100)
    const listed = await (await call("/commands")).text()
    expect(Buffer.byteLength(listed)).toBeLessThan(64_000)
    expect((await call(`/commands/${made.id}`, { method: "DELETE" })).status).toBe(200)
    await expect.poll(listObjects, { timeout: 30_000 }).toEqual([])
  },
  TIMEOUT_MS,
)

it(
  "a command of 60 KB that fails with giant lines ends with a few of them",
  async () => {
    const expression = "in_a_very_long_word".repeat(3000)
    const made = await ffmpeg(
      `ffmpeg -f lavfi -i testsrc2=d=1 -vf select='${expression}' out_1`,
      "out.mp4",
    )
    expect([made.status, made.error_code]).toEqual(["failed", expect.any(String)])
    const { type, data, bytes } = await webhookOf(made.id)
    expect([type, data.status]).toEqual(["command.failed", "failed"])
    expect(bytes).toBeLessThanOrEqual(WEBHOOK_BYTES_MAX)
    const whole = await read(failedCommand, `/commands/${made.id}`)
    expect(JSON.stringify(whole.processing_errors).length).toBeLessThan(32_000)
    expect(JSON.stringify(whole["original_request"])).toContain(expression)
    const listed = await (await call("/commands")).text()
    expect(listed).not.toContain(expression)
    expect((await call(`/commands/${made.id}`, { method: "DELETE" })).status).toBe(200)
    await expect.poll(listObjects).toEqual([])
  },
  TIMEOUT_MS,
)
