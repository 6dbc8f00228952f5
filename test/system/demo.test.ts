import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { pickVariables } from "../../scripts/local/environment.ts"

const run = promisify(execFile)
const PASSED_ON = ["PATH", "HOME", "FFMPEG_PATH", "FFPROBE_PATH"]

const probe = z.object({
  streams: z.array(z.object({ codec_name: z.string(), width: z.int().optional() })),
  format: z.object({ duration: z.coerce.number() }),
})

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-demo-test-"))
  await mkdir(join(folder, "tmp"))
})

afterEach(async () => {
  const left = await readdir(join(folder, "tmp"))
  await rm(folder, { recursive: true, force: true })
  expect(left).toEqual([])
})

describe("the demo", () => {
  it("changes its own clip and shows how", async () => {
    const { exitCode, stdout } = await demo()
    expect(exitCode).toBe(0)
    const { streams, format } = await probeResult("lathe-demo-output.mp4")
    expect(streams.map((stream) => stream.codec_name)).toEqual(["h264", "aac"])
    expect(streams[0]?.width).toBe(480)
    expect(format.duration).toBeCloseTo(9, 0)
    expect(stdout).toMatch(/^ +before +after$/m)
    expect(stdout).toMatch(/^duration +10\.0 s +9\.0 s$/m)
    expect(stdout).toMatch(/^size +\d+ kB +\d+ kB$/m)
    expect(stdout).toMatch(/^resolution +640x360 +480x270$/m)
    expect(stdout).toMatch(/^codecs +h264, aac +h264, aac$/m)
    expect(stdout).toMatch(/^loudness +-28\.\d LUFS +-1[567]\.\d LUFS$/m)
    expect(stdout).toContain(join(folder, "lathe-demo-output.mp4"))
    expect(stdout).toContain('curl -s -H "X-API-Key: $KEY" -F')
    expect(stdout).toMatch(/^Progress {2}0 %.* 100 %$/m)
    expect(stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u)
    await expectGone(stdout)
  })

  it("says of a file that is no media what it is, and fails", async () => {
    await writeFile(join(folder, "words.txt"), "Plain words.\n")
    const { exitCode, stdout, stderr } = await demo("words.txt")
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^words\.txt: This is not a media file that can be read: .+\.\n$/)
    await expectGone(stdout)
  })

  it("says of a file that is not there that it is not, and fails", async () => {
    const { exitCode, stdout, stderr } = await demo("nowhere.mp4")
    expect(exitCode).toBe(1)
    expect(stderr).toBe("There is no file nowhere.mp4.\n")
    expect(stdout).toBe("")
  })

  it("leaves nothing behind when it is interrupted", async () => {
    const child = start([])
    child.stdout.setEncoding("utf8")
    let stdout = ""
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      stdout += String(chunk)
      if (stdout.includes("Upload")) break
    }
    const exited = once(child, "exit")
    child.kill("SIGINT")
    await exited
    expect(child.exitCode).toBe(130)
    await expectGone(stdout)
  })
})

function start(words: string[]) {
  return spawn(process.execPath, ["scripts/demo.ts", ...words], {
    env: {
      ...pickVariables(process.env, PASSED_ON),
      TMPDIR: join(folder, "tmp"),
      INIT_CWD: folder,
    },
    stdio: ["ignore", "pipe", "pipe"],
  })
}

async function demo(...words: string[]) {
  const child = start(words)
  const closed = once(child, "close")
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  await closed
  return { exitCode: child.exitCode, stdout, stderr }
}

/** The service that the demo named no longer answers. */
async function expectGone(stdout: string): Promise<void> {
  const origin = /^Service +(http:\/\/[\d.:]+)/m.exec(stdout)?.[1]
  expect(origin).toBeDefined()
  await expect(fetch(`${origin}/v1/health`)).rejects.toThrow("fetch failed")
}

async function probeResult(name: string) {
  const words = "-v error -print_format json -show_streams -show_format".split(" ")
  const path = join(folder, name)
  const { stdout } = await run(process.env["FFPROBE_PATH"] ?? "ffprobe", [...words, path])
  return probe.parse(JSON.parse(stdout))
}
