import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { z } from "zod"
import type { Report } from "../../../../src/contract/report.ts"
import { findPolicyRefusals } from "../../../../src/ffmpeg/policy/check.ts"
import { COMMAND_REMEDIES, FFMPEG_REMEDIES } from "../../../../src/ffmpeg/policy/remedies.ts"
import { startHarness } from "../../harness.ts"
import type { Harness } from "../../harness.ts"

const PICTURE = "-f lavfi -i testsrc=s=64x48:d=0.2"

let harness: Harness

beforeEach(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await harness.closeClean()
})

/** Runs commands that keep no file, with texts as inputs; returns the last report. */
async function run(
  commands: string | string[],
  texts: Record<string, string | Uint8Array<ArrayBuffer>>,
  form?: "ffmpeg",
): Promise<Report> {
  const inputs = Object.entries(texts).map(([key, text]) => {
    const bytes = typeof text === "string" ? new Uint8Array(Buffer.from(text)) : text
    harness.io.inputs.set(key, bytes)
    return { key, name: `${key}.txt`, size_bytes: bytes.length }
  })
  const lines = [commands].flat().map((line) => line.split(" "))
  const work = { kind: "command", commands: lines, outputs: [], run_seconds_max: 60, form }
  return await harness.finish(harness.order([["x"]], { inputs, work }))
}

describe("a graph file makes what its text in the command makes", () => {
  test.for([
    ["-filter_complex_script {{in_1}} -map [v]", "[0:v]\n  hflip,\n  scale=32:24 [v]\n"],
    ["-/filter_complex in_1 -map [v]", "\uFEFF[0:v]hflip,scale=32:24[v]"],
    ["-/lavfi {{in_1}} -map [v]", "[0:v]hflip,scale=32:24[v]\r\n"],
    ["-filter_script:v {{in_1}}", "hflip,scale=32:24"],
    ["-/vf in_1.txt", "hflip,scale=32:24\n"],
    ["-/filter:v:0 {{in_1}}", "hflip,scale=32:24\n"],
  ])("%s", async ([options, graph]) => {
    const plain = await run(`${PICTURE} -vf hflip,scale=32:24 -f framemd5 -`, {})
    harness.io.reports.length = 0
    const report = await run(`${PICTURE} ${options} -f framemd5 -`, { in_1: graph ?? "" })
    expect(plain).toMatchObject({ kind: "finished", stdout: expect.any(String) })
    const { stdout } = z.object({ stdout: z.string() }).parse(plain)
    expect(report).toMatchObject({ kind: "finished", stdout })
  })

  test("and names the files of the job by their keys", async () => {
    const subtitles = "1\n00:00:00,000 --> 00:00:01,000\nHello\n"
    const graph = "subtitles={{in_2}},subtitles=in_2,drawtext=text=in_2"
    const report = await run(`${PICTURE} -/vf in_1 -f framemd5 -`, { in_1: graph, in_2: subtitles })
    expect(report).toMatchObject({ kind: "finished" })
  })
})

describe("a graph file is judged as its text in the command is", () => {
  const SCRIPT = `${PICTURE} -filter_complex_script {{in_1}} -f framemd5 -`

  test.for([
    ["movie=/etc/passwd", "path_not_allowed"],
    ["movie='http\\://127.0.0.1/a'", "url_not_allowed"],
    ["subtitles=data\\\\:x", "protocol_not_allowed"],
    ["hflip,frei0r=glow", "filter_not_allowed"],
    ["drawtext=/text=/etc/passwd", "filter_option_not_allowed"],
    ["movie=a.mp4:f=hls", "format_not_allowed"],
    ["metadata=print:file=in_1.txt", "overwrites_input"],
    ["movie={{in_9}}", "name_not_allowed"],
    ["metadata=print:file=pipe\\\\:3", "stdio_not_allowed"],
    [`${"null,".repeat(1000)}null`, "too_complex"],
  ])("with the same sentence: %j", async ([graph = "", code]) => {
    const names = { inputs: new Set(["in_1.txt"]), outputs: new Set<string>() }
    const words = `${PICTURE} -filter_complex`.split(" ")
    const [refusal] = findPolicyRefusals([...words, graph, "-f", "null", "-"], {
      ...names,
      remedies: COMMAND_REMEDIES,
    })
    expect(refusal).toMatchObject({ code, option: "-filter_complex" })
    expect(await run(SCRIPT, { in_1: graph })).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: {
        code,
        message: `${refusal?.message}.`.replace("-filter_complex:", "-filter_complex_script:"),
      },
    })
  })

  test.for([
    ["null,".repeat(13_200), "too_complex", "has more than 65536 bytes"],
    ["hflip\0", "invalid_input", "is not UTF-8 text"],
  ])("and must be text of 64 KB at most: %#", async ([graph = "", code, sentence]) => {
    expect(await run(SCRIPT, { in_1: graph })).toMatchObject({
      failure: {
        code,
        message: `-filter_complex_script: the graph file "in_1.txt" ${sentence}.`,
      },
    })
  })

  test("with all faults, and before any command runs", async () => {
    const commands = [`${PICTURE} -f md5 -`, `${PICTURE} -/vf {{in_1}} -f null -`]
    const report = await run(commands, { in_1: "movie=/a,movie=/b,movie=/c" })
    expect(report).toMatchObject({ kind: "failed" })
    expect(report).not.toHaveProperty("stdout")
    const { message, lines } =
      report.kind === "failed" ? report.failure : { message: "", lines: [] }
    expect(message).toMatch(/^Command 2 of 2: -\/vf: the filter movie, filename: "\/a"/)
    expect(lines).toEqual([
      expect.stringContaining('filename: "/b"'),
      expect.stringContaining('filename: "/c"'),
    ])
  })

  test("in the terms of its request", async () => {
    const report = await run(SCRIPT, { in_1: "movie=/etc/passwd" }, "ffmpeg")
    expect(report).toMatchObject({
      failure: { message: expect.stringContaining(FFMPEG_REMEDIES.giveFile) },
    })
  })

  test.for(["/etc/passwd", "../x", "other.txt", "in_9"])(
    "and must be an input, which %s is not",
    async (name) => {
      const report = await run(`${PICTURE} -/vf ${name} -f null -`, {})
      expect(report).toMatchObject({ failure: { code: "name_not_allowed" } })
    },
  )

  test("and all of a command have 512 KB together", async () => {
    const graph = `null,drawtext=text=${"x".repeat(60_000)}`
    const report = await run(`${PICTURE} ${"-/vf {{in_1}} -f null - ".repeat(9)}-f null -`, {
      in_1: graph,
    })
    expect(report).toMatchObject({ failure: { code: "too_complex" } })
  })
})
