import { readFile } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { z } from "zod"
import { startReceiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

/** For a second end, or a second delivery, to show up. */
const AFTERMATH_MS = 3000

const job = z.looseObject({
  status: z.string(),
  attempts: z.number(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
})

type Job = z.infer<typeof job>

/** An account of the service: what its callers do. */
async function openAccount(service: TestService, name: string, plan: "trial" | "paid") {
  const key = await service.makeKey(name, plan)
  async function ask(method: string, path: string, more: RequestInit = {}): Promise<unknown> {
    const headers = { "x-api-key": key, ...Object.fromEntries(new Headers(more.headers)) }
    const answer = await fetch(`${service.origin}/v1${path}`, { ...more, method, headers })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    return await answer.json()
  }
  async function read(id: string): Promise<Job> {
    return job.parse(await ask("GET", `/jobs/${id}`))
  }
  return {
    ask,
    read,
    /** Asks for a picture made as slowly as it would be shown: so many seconds, or endless. */
    async encode(seconds: number | null, more: Record<string, unknown> = {}): Promise<string> {
      const length = seconds === null ? "" : `-t ${seconds}`
      const command = `ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 ${length} -c:v mpeg4 {{out_1}}`
      const answer = await ask("POST", "/commands", {
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          ffmpeg_command: command,
          input_files: {},
          output_files: { out_1: "out.mp4" },
          ...more,
        }),
      })
      return z.looseObject({ command_id: z.string() }).parse(answer).command_id
    },
    /** Uploads a file, and waits for its probe to be done. */
    async probe(): Promise<void> {
      const body = new FormData()
      body.append("file", new File([await readFile("scripts/demo/command/clip.mp4")], "clip.mp4"))
      const stored = z.looseObject({ id: z.string() }).parse(await ask("POST", "/files", { body }))
      await expect
        .poll(async () => await ask("GET", `/files/${stored.id}`), {
          interval: 20,
        })
        .toMatchObject({ status: "success" })
    },
    async until(id: string, isSo: (known: Job) => boolean, timeoutMs: number): Promise<Job> {
      await expect.poll(async () => isSo(await read(id)), { timeout: timeoutMs }).toBe(true)
      return await read(id)
    },
  }
}

function isRunning({ status }: Job): boolean {
  return status === "processing"
}

function isOver({ status }: Job): boolean {
  return status === "completed" || status === "failed"
}

/** From the answer of a create to the start of its run, in milliseconds. */
function waitedMs({ created_at, started_at }: Job): number {
  return Date.parse(started_at ?? "") - Date.parse(created_at)
}

it("probes an upload at once and starts a job soon, beside two endless jobs of a trial account", async () => {
  await using service = await startService({ RUNNER_CAPACITY: "2", TRIAL_RUN_SECONDS_MAX: "15" })
  const [endless, other] = await Promise.all([
    openAccount(service, "endless", "trial"),
    openAccount(service, "other", "trial"),
  ])
  const held = [await endless.encode(null), await endless.encode(null)]
  for (const id of held) await endless.until(id, isRunning, 20_000)
  // More than it may have running at once.
  for (let more = 0; more < 6; more += 1) await endless.encode(null)
  for (const account of [other, endless]) await account.probe()
  const id = await other.encode(1)
  for (const each of held) expect(isRunning(await endless.read(each))).toBe(true)
  const done = await other.until(id, isOver, 30_000)
  expect(done.status).toBe("completed")
  expect(waitedMs(done)).toBeLessThan(15_000 + 10_000)
  for (const each of held) {
    const ended = await endless.until(each, isOver, 30_000)
    expect(ended.error).toMatchObject({
      code: "time_limit",
      message: expect.stringContaining("may run for 15 seconds on the trial plan"),
    })
  }
})

it("interrupts a paid account once for a new account, and completes its long jobs", async () => {
  await using receiver = await startReceiver()
  await using service = await startService({
    RUNNER_CAPACITY: "2",
    TRIAL_RUN_SECONDS_MAX: "4",
    ALLOWED_PRIVATE_HOSTS: new URL(receiver.origin).host,
  })
  const [paid, newcomer] = await Promise.all([
    openAccount(service, "paid", "paid"),
    openAccount(service, "newcomer", "trial"),
  ])
  const webhook = `${receiver.origin}/`
  const long = [await paid.encode(14, { webhook }), await paid.encode(14, { webhook })]
  for (const id of long) await paid.until(id, isRunning, 20_000)
  const id = await newcomer.encode(1)
  const started = await newcomer.until(id, ({ started_at }) => started_at !== null, 30_000)
  expect(waitedMs(started)).toBeLessThan(4000 + 9000)
  expect((await newcomer.until(id, isOver, 20_000)).status).toBe("completed")
  const ended = await Promise.all(long.map((each) => paid.until(each, isOver, 60_000)))
  expect(ended.map(({ status }) => status)).toEqual(["completed", "completed"])
  expect(new Set(ended.map(({ attempts }) => attempts))).toEqual(new Set([1, 2]))
  await sleep(AFTERMATH_MS)
  for (const each of long) {
    expect(receiver.received.filter(({ body }) => body.includes(each))).toHaveLength(1)
  }
})
