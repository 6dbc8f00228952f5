import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import type { ApiCaller } from "../../scripts/cli/client/caller.ts"
import {
  makeMediaFile,
  readMediaBody,
  runUnsandboxed,
  SMALL_MEDIA_ARGUMENTS,
  serviceToolPaths,
} from "../../scripts/cli/client/media.ts"
import {
  submitCommand,
  waitUntilFinal,
  waitUntilSuccess,
  uploadFile,
} from "../../scripts/cli/client/requests.ts"
import { runDocker, startContainer, runScriptInContainer } from "../../scripts/image/docker.ts"
import { startWranglerDevService } from "../../scripts/image/service.ts"
import type { WranglerDevService } from "../../scripts/image/service.ts"
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { signText } from "../../src/platform/crypto/signature.ts"
import { runDirectly } from "./run-directly.ts"
import { startReceiver } from "../system/receiver.ts"
import type { Receiver } from "../system/receiver.ts"

const CANCELED_MS_MAX = 2000
const LEFT_MS_MAX = 10_000
/** For a second end, or a second delivery, to show up. */
const AFTERMATH_MS = 3000

const job = z.looseObject({
  status: z.string(),
  attempts: z.number(),
  completed_at: z.string().nullable(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
})

let service: WranglerDevService
let receiver: Receiver
let one: { key: string; caller: ApiCaller }
let folder: string
const opened = new AsyncDisposableStack()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-image-test-"))
  opened.defer(async () => await rm(folder, { recursive: true }))
  receiver = opened.use(await startReceiver())
  const started = await startWranglerDevService({
    RUNNER_INSTANCES: "1",
    ALLOWED_PRIVATE_HOSTS: new URL(receiver.origin).host,
  })
  service = opened.use(started)
  one = await service.openAccount("one")
})

afterAll(() => opened.disposeAsync())

/** Asks for a picture of so many seconds, made as slowly as it would be shown. */
async function encode({ caller }: { caller: ApiCaller }, seconds: number): Promise<string> {
  return await submitCommand(caller, {
    ffmpeg_command: `ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t ${seconds} -c:v mpeg4 {{out_1}}`,
    input_files: {},
    output_files: { out_1: "out.mp4" },
    webhook: `${receiver.origin}/`,
  })
}

async function readJob({ caller }: { caller: ApiCaller }, id: string) {
  return job.parse(JSON.parse((await caller.ask("GET", `/v1/jobs/${id}`)).text))
}

async function until<Value>(ask: () => Promise<Value | null>, timeoutMs: number): Promise<Value> {
  const untilMs = performance.now() + timeoutMs
  for (;;) {
    const value = await ask()
    if (value !== null) return value
    if (performance.now() > untilMs) throw new Error("the state was not reached in time")
    await sleep(50)
  }
}

/** The container whose ffmpeg is at work. */
async function untilEncoding(): Promise<string> {
  return await until(async () => {
    const [id] = await service.containers()
    return id !== undefined && (await isEncoding(id)) ? id : null
  }, 30_000)
}

async function isEncoding(id: string): Promise<boolean> {
  return (await runDocker("top", id, "-eo", "pid,args").catch(() => "")).includes("testsrc")
}

async function untilGone(id: string, timeoutMs: number): Promise<void> {
  await until(async () => ((await service.containers()).includes(id) ? null : true), timeoutMs)
}

async function countDeliveries(id: string): Promise<number> {
  await sleep(AFTERMATH_MS)
  return receiver.received.filter(({ body }) => body.includes(id)).length
}

describe("the service on containers", () => {
  it("runs a command on an uploaded file, and serves its output", async () => {
    const path = await makeMediaFile(folder, "in.mp4", SMALL_MEDIA_ARGUMENTS)
    const file = await uploadFile(one.caller, "in.mp4", await readMediaBody(path))
    await waitUntilSuccess(one.caller, `/v1/files/${file.id}`)
    const id = await submitCommand(one.caller, {
      ffmpeg_command: "ffmpeg -i {{in_1}} -vf scale=32:32 -c:v libx264 {{out_1}}",
      input_files: { in_1: `svc_id://${file.id}` },
      output_files: { out_1: "small.mp4" },
    })
    await waitUntilSuccess(one.caller, `/v1/commands/${id}`)
    const made = await download(one, id)
    await writeFile(join(folder, "small.mp4"), made)
    const words = "-v error -show_entries stream=codec_name,width -of csv=p=0 small.mp4"
    const streams = await runUnsandboxed(serviceToolPaths.ffprobe, words.split(" "), folder)
    expect(streams.trim().split("\n")).toEqual(["h264,32", "aac"])
  })

  it("retries a job whose container is killed, and ends it once", async () => {
    const id = await encode(one, 5)
    await runDocker("kill", await untilEncoding())
    await waitUntilSuccess(one.caller, `/v1/commands/${id}`)
    const ended = await readJob(one, id)
    expect(ended.attempts).toBe(2)
    expect(await countDeliveries(id)).toBe(1)
    expect(await readJob(one, id)).toEqual(ended)
  })

  it("kills the process of a canceled job, and keeps the container", async () => {
    const id = await encode(one, 60)
    const container = await untilEncoding()
    const beganMs = performance.now()
    await one.caller.ask("POST", `/v1/jobs/${id}/cancel`)
    await until(async () => ((await isEncoding(container)) ? null : true), CANCELED_MS_MAX)
    expect(performance.now() - beganMs).toBeLessThan(CANCELED_MS_MAX)
    expect(await readJob(one, id)).toMatchObject({ status: "failed", error: { code: "canceled" } })
    expect(await service.containers()).toEqual([container])
    const states = "grep -h ^State: /proc/[0-9]*/status"
    expect(await runDocker("exec", container, "sh", "-c", states)).not.toContain("Z (zombie)")
  })

  it("lets a container finish its job after SIGTERM, while new jobs start elsewhere", async () => {
    const id = await encode(one, 6)
    const container = await untilEncoding()
    const log = followLog(container)
    await runDocker("kill", "--signal", "TERM", container)
    const other = await encode(one, 1)
    await waitUntilSuccess(one.caller, `/v1/commands/${other}`)
    await waitUntilSuccess(one.caller, `/v1/commands/${id}`)
    await untilGone(container, LEFT_MS_MAX)
    const text = await log
    expect(text).toMatch(new RegExp(`"task.ended".*${id}.*"finished"`))
    expect(text).not.toContain(other)
    expect(await readJob(one, id)).toMatchObject({ attempts: 1 })
    expect(await countDeliveries(id)).toBe(1)
  })

  it("keeps a container warm for its account, and stops it before another account gets its slot", async () => {
    const two = await service.openAccount("two")
    const containers: string[] = []
    for (const account of [one, one, two]) {
      const id = await encode(account, 2)
      containers.push(await untilEncoding())
      await waitUntilSuccess(account.caller, `/v1/commands/${id}`)
    }
    const [first, second, third] = containers
    expect(second).toBe(first)
    expect(third).not.toBe(first)
    expect(await service.containers()).toEqual([third])
    // A container that is gone already is as good as one that was ended.
    await runDocker("kill", third ?? "")
    const id = await encode(one, 1)
    await waitUntilSuccess(one.caller, `/v1/commands/${id}`)
    expect(await service.containers()).not.toContain(third)
  })
})

describe("a hostile command in a container", () => {
  const COPY = "-map 0 -c copy -f data out.bin".split(" ")

  it("reads its input and none of the container's files", async () => {
    const canary = `canary-${crypto.randomUUID()}`
    const input = await uploadFile(one.caller, "canary.mp4", bytesOf(canary))
    await waitUntilFinal(one.caller, `/v1/files/${input.id}`)
    const allowed = await submitCommand(one.caller, {
      ffmpeg_command: `ffmpeg -f data -i {{in_1}} -map 0 -c copy -f data {{out_1}}`,
      input_files: { in_1: `svc_id://${input.id}` },
      output_files: { out_1: "out.bin" },
    })
    await waitUntilSuccess(one.caller, `/v1/commands/${allowed}`)
    expect((await download(one, allowed)).toString()).toBe(canary)
    const [container = ""] = await service.containers()
    await runScriptInContainer(
      container,
      `
      import { writeFile } from "node:fs/promises"
      await writeFile("/tmp/canary", "${canary}")
      await writeFile("/work/canary", "${canary}")`,
    )
    const places = ["/tmp/canary", "/work/canary", "../canary", "file:/work/canary"]
    for (const place of [...places, "/etc/passwd", "/app/package.json", "/proc/1/environ"]) {
      const sent = await runDirectly(container, ["-f", "data", "-i", place, ...COPY])
      expect(sent).toContain('"kind":"failed"')
      expect(sent).not.toMatch(new RegExp(`${canary}|root:`))
    }
    expect(await service.containers()).toEqual([container])
  })

  it("reaches no listener, unlike a container without network rules", async () => {
    let reached = 0
    const listener = createServer((socket) => {
      reached += 1
      socket.destroy()
    })
    listener.listen(0, "0.0.0.0")
    await once(listener, "listening")
    const address = listener.address()
    const port = address !== null && typeof address === "object" ? address.port : 0
    await using plain = await startContainer()
    const template = "{{range .NetworkSettings.Networks}}{{.Gateway}}{{end}}"
    const gateway = await runDocker("inspect", "--format", template, plain.id)
    const connect = `import { connect } from "node:net"
      const socket = connect(${port}, "${gateway}", () => setTimeout(() => process.exit(), 200))
      socket.on("error", () => process.exit())
      setTimeout(() => process.exit(), 3000)`
    await runScriptInContainer(plain.id, connect)
    expect(reached).toBe(1)
    await refuses(`ffmpeg -i http://${gateway}:${port}/ -c copy {{out_1}}`)
    const [container = ""] = await service.containers()
    for (const host of ["127.0.0.1", gateway]) {
      for (const words of [
        ["-i", `http://${host}:${port}/`],
        ["-i", `tcp://${host}:${port}`],
        ["-f", "lavfi", "-i", `movie=http\\\\://${host}\\\\:${port}/x.mp4`],
      ]) {
        expect(await runDirectly(container, [...words, ...COPY])).toContain('"kind":"failed"')
      }
    }
    // The runner itself, which is in no sandbox, gets out neither.
    await runScriptInContainer(container, connect)
    listener.close()
    expect(reached).toBe(1)
  })

  it("reads nothing from the Worker with another task's token", async () => {
    const id = await encode(one, 5)
    const container = await untilEncoding()
    const [mine, other] = [crypto.randomUUID(), crypto.randomUUID()]
    const run = `one.${mine}.${mine}.1`
    const token = `${run}.${await signText(service.secret, "task", run)}`
    function ask(task: string, bearer: string): Promise<string> {
      return runScriptInContainer(
        container,
        `const answer = await fetch("http://worker.internal/io/${task}/inputs/in_1",
           { headers: { "${PROTOCOL_HEADER}": "${PROTOCOL_VERSION}",
             authorization: "Bearer ${bearer}" } })
         console.log(answer.status)`,
      )
    }
    expect(await ask(other, token)).toBe("401")
    expect(await ask(mine, `${token}0`)).toBe("401")
    // A true token of a task that does not run opens nothing either.
    expect(await ask(mine, token)).toBe("410")
    await waitUntilSuccess(one.caller, `/v1/commands/${id}`)
  })
})

/** Sends a command that the service does not take. */
async function refuses(command: string): Promise<void> {
  const order = { ffmpeg_command: command, input_files: {}, output_files: { out_1: "out.bin" } }
  await expect(submitCommand(one.caller, order)).rejects.toThrow("was answered 422")
}

async function download({ key, caller }: typeof one, id: string): Promise<Buffer> {
  const output = z.object({
    output_files: z.object({ out_1: z.looseObject({ download_url: z.string() }) }),
  })
  const record = output.parse(JSON.parse((await caller.ask("GET", `/v1/commands/${id}`)).text))
  const answer = await fetch(record.output_files.out_1.download_url, {
    headers: { "x-api-key": key },
  })
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

function bytesOf(text: string) {
  const bytes = Buffer.from(text)
  return { sizeBytes: bytes.byteLength, chunks: [bytes] }
}

/** Log of a container from now until its end. */
async function followLog(id: string): Promise<string> {
  const words = ["logs", "--follow", "--tail", "0", id]
  const child = spawn("docker", words, { stdio: ["ignore", "pipe", "inherit"] })
  return await text(child.stdout)
}
