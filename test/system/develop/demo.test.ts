import { execFile } from "node:child_process"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { expectGone, openDemoStage } from "./demo-stage.ts"
import type { DemoStage } from "./demo-stage.ts"

const run = promisify(execFile)

const probe = z.object({
  streams: z.array(z.object({ codec_name: z.string(), width: z.int().optional() })),
  format: z.object({ duration: z.coerce.number() }),
})

let stage: DemoStage

beforeEach(async () => {
  stage = await openDemoStage()
})

afterEach(async () => {
  expect(await stage.leftovers()).toEqual([])
  await stage[Symbol.asyncDispose]()
})

describe("the demo", () => {
  it("converts its own clip, and shows the requests", async () => {
    const { exitCode, stdout } = await stage.demo()
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
    expect(stdout).toContain(join(stage.folder, "lathe-demo-output.mp4"))
    expect(stdout).toContain('curl -s -H "X-API-Key: $KEY" -F')
    expect(stdout).toMatch(/^Progress {2}0 %.* 100 %$/m)
    expect(stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u)
    await expectGone(stdout)
  })

  it("reports a file that is no media, and fails", async () => {
    await writeFile(join(stage.folder, "words.txt"), "Plain words.\n")
    const { exitCode, stdout, stderr } = await stage.demo(["words.txt"])
    expect(exitCode).toBe(1)
    expect(stderr).toBe("words.txt has neither video nor audio to convert.\n")
    await expectGone(stdout)
  })

  it("reports a missing file, and fails", async () => {
    const { exitCode, stdout, stderr } = await stage.demo(["nowhere.mp4"])
    expect(exitCode).toBe(1)
    expect(stderr).toBe("There is no file nowhere.mp4.\n")
    expect(stdout).toBe("")
  })

  it("leaves nothing behind when it is interrupted", async () => {
    const child = stage.start([])
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

async function probeResult(name: string) {
  const words = "-v error -print_format json -show_streams -show_format".split(" ")
  const path = join(stage.folder, name)
  const { stdout } = await run(process.env["FFPROBE_PATH"] ?? "ffprobe", [...words, path])
  return probe.parse(JSON.parse(stdout))
}
