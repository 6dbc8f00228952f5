import { spawnSync } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeCanaryMedia } from "../../corpus/canary-media.ts"
import { BOMBS, DISGUISES, POINTERS } from "../../corpus/hostile-files.ts"
import { makeMutations } from "../../corpus/mutations.ts"
import { madeFiles, openAccount } from "../../corpus/account.ts"
import type { Account, FileRecord } from "../../corpus/account.ts"
import { openCanaries } from "../../corpus/canaries.ts"
import type { Canaries } from "../../corpus/canaries.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const FFPROBE = "ffprobe"
const SEED = 20_261_121
const MUTATIONS_EACH = 3
/** Time limit of a probe and a command on a busy machine. */
const TOO_LONG_MS = 100_000

let service: TestService
let account: Account
let media: Record<string, Uint8Array>

beforeAll(async () => {
  media = await makeCanaryMedia()
  service = await startService({
    RUNNER_CAPACITY: "4",
    RUN_SECONDS_MAX: "6",
    TOOL_MEMORY_BYTES_MAX: "1500000000",
  })
  account = openAccount(service.origin, await service.makeKey("inputs"))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

function open(): Promise<Canaries> {
  const { stateDir: state } = service
  return openCanaries({ work: join(state, "work"), state, media }, [])
}

/** End of a file that fails by its own fault: one attempt, its own code. */
const CALM = { attempts: 1, code: "probe_failed" }

function endOf(found: FileRecord): unknown {
  return { attempts: found["attempts"], code: found["error_code"] ?? "probe_failed" }
}

describe.concurrent.for(POINTERS)("$name that points outside", ({ text }) => {
  test.for(DISGUISES)("reveals nothing as %s", async (name) => {
    await using canaries = await open()
    const found = await account.upload(name, text(canaries.place))
    expect(endOf(found)).toEqual(CALM)
    const probe = JSON.stringify(found.ffprobe ?? {})
    expect(probe).not.toMatch(/h264|mpegts|"width":64/)
    const { record, refused } = await account.run({
      ffmpeg_command: "ffmpeg -i in_1 -map 0 -pix_fmt gray -f rawvideo out_1",
      input_files: { in_1: `svc_id://${found.id}` },
      output_files: { out_1: "out.bin" },
    })
    const made = record ? madeFiles(record) : []
    expect(record?.status === "success" && !name.endsWith(".svg")).toBe(false)
    expect(made).toEqual([])
    const evidence = { probe, file: JSON.stringify(found), job: JSON.stringify(record ?? refused) }
    expect(await canaries.damage(evidence)).toEqual([])
  })
})

describe.concurrent("without a sandbox, ffprobe follows", () => {
  test.for(POINTERS.filter(({ isFollowed }) => isFollowed))("$name", async ({ text }) => {
    await using canaries = await open()
    const path = join(canaries.place.outside, "clip.mp4")
    await writeFile(path, text(canaries.place))
    const { stdout } = spawnSync(FFPROBE, ["-v", "error", "-show_streams", path])
    expect(stdout.toString()).toMatch(/codec_name=h264/)
  })
})

describe.concurrent("the probe of a deceptive file ends soon:", () => {
  const bombs = new Map<string, ReturnType<(typeof BOMBS)[string]>>()

  beforeAll(async () => {
    for (const [name, make] of Object.entries(BOMBS)) bombs.set(name, make())
    // Making them blocked the event loop, which is yet to hear of connections that were closed.
    await turn()
  })

  test.for(Object.keys(BOMBS))("%s", { timeout: 2 * TOO_LONG_MS }, async (name) => {
    const began = Date.now()
    const found = await account.upload(name, bombs.get(name) ?? "")
    expect(endOf(found)).toEqual(CALM)
    const { record, refused } = await account.run({
      ffmpeg_command: "ffmpeg -i in_1 -f null - -frames:v 1 -update 1 -f image2 out_1",
      input_files: { in_1: `svc_id://${found.id}` },
      output_files: { out_1: "out.png" },
    })
    expect(refused?.status ?? 422).toBe(422)
    expect(record ?? { attempts: 1 }).toMatchObject({ attempts: 1 })
    expect(record?.error_code ?? "none").not.toMatch(/internal|runner_lost|disk_full/)
    expect(Date.now() - began).toBeLessThan(TOO_LONG_MS)
  })
})

describe("damaged files", () => {
  test(`of many kinds all end (seed ${SEED})`, async () => {
    const mutations = await makeMutations(SEED, MUTATIONS_EACH)
    const open = mutations.values()
    async function work(): Promise<void> {
      for (const [name, content] of open) {
        const found = await account.upload(name, content)
        expect([name, found.status, found["attempts"], found["error_code"]]).toEqual([
          name,
          expect.stringMatching(/success|failed/),
          1,
          found.status === "success" ? undefined : "probe_failed",
        ])
      }
    }
    await Promise.all(Array.from({ length: 5 }, work))
  })

  test("are refused if they are truncated, or read up to their end", async () => {
    const whole = media["film.mp4"] ?? new Uint8Array()
    for (const part of [0.01, 0.3, 0.9]) {
      const found = await account.upload("cut.mp4", whole.slice(0, whole.length * part))
      expect(endOf(found)).toEqual(CALM)
    }
  })

  test("are refused if they are empty", async () => {
    const body = new FormData()
    body.append("file", new Blob([]), "empty.mp4")
    expect((await account.call("/files", { method: "POST", body })).status).toBe(422)
  })

  test("do not kill the runner", async () => {
    const { record } = await account.run({
      ffmpeg_command: "ffmpeg -f lavfi -i sine=d=0.1 out_1",
      input_files: {},
      output_files: { out_1: "a.wav" },
    })
    expect(record).toMatchObject({ status: "success", attempts: 1 })
  })
})
