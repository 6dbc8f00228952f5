import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { TaskStdout } from "../../../../container/tools/ffmpeg/task-stdout.ts"
import type { Report } from "../../../../src/contract/report.ts"
import { startHarness } from "../../harness.ts"
import type { Harness } from "../../harness.ts"

const PICTURE = "-f lavfi -i testsrc=s=32x32:d=0.2"
const BYTES_MAX = 64 * 1024

describe("standard output of a command", () => {
  let harness: Harness

  beforeEach(async () => {
    harness = await startHarness()
  })

  afterEach(async () => {
    await harness.closeClean()
  })

  /** Runs commands that keep no file; returns the last report. */
  async function run(...commands: string[]): Promise<Report> {
    const work = {
      kind: "command",
      commands: commands.map((each) => each.split(" ")),
      outputs: [],
      run_seconds_max: 60,
    }
    return await harness.finish(harness.order([["x"]], { work }))
  }

  test("is read, and stands in the log after what the command said", async () => {
    const report = await run(`${PICTURE} -f framemd5 -`)
    const text = expect.stringMatching(/^#format: frame checksums\n[^]+\n0, .* [0-9a-f]{32}\n$/)
    expect(report).toMatchObject({ kind: "finished", stdout: text, result: { warnings: [] } })
    expect(report).toMatchObject({
      log: expect.stringMatching(/\nInput #0[^]+\nStandard output:\n#format: frame checksums\n/),
    })
  })

  test("of several commands is joined in their order", async () => {
    const report = await run(
      `${PICTURE} -f md5 -`,
      `${PICTURE} -f hash -hash sha256 pipe:1`,
      `${PICTURE} -vf metadata=add:key=a:value=b,metadata=print:file=- -frames:v 1 -f null -`,
    )
    expect(report).toMatchObject({
      stdout: expect.stringMatching(/^MD5=\w{32}\nSHA256=\w{64}\nframe:0 +pts:0 .*\na=b\n$/),
    })
  })

  test("has the progress that a command writes there, and the job has its progress too", async () => {
    const report = await run(`-progress - -re ${PICTURE.replace("0.2", "2")} -f null -`)
    expect(report).toMatchObject({ stdout: expect.stringMatching(/frame=\d[^]+progress=end\n$/) })
    expect(harness.io.reports.some(({ kind }) => kind === "progress")).toBe(true)
  })

  test("is cut to its last 64 KB, and its last 16 KB stand in the log", async () => {
    const report = await run("-f lavfi -i testsrc=s=16x16:r=1000:d=3 -f framemd5 -")
    const { stdout = "", log = "" } = report.kind === "finished" ? report : {}
    expect(stdout).toHaveLength(BYTES_MAX)
    expect(stdout).toMatch(/\n0, +2999, +2999, .*\n$/)
    expect(log).toContain("\nInput #0, lavfi")
    expect(log).toMatch(/\n0, +2999, +2999, .*\n$/)
    expect(log.length).toBeLessThan(24 * 1024)
  })

  test("is drained and reported as binary if it is media", async () => {
    const report = await run(
      "-f lavfi -i testsrc=s=320x240:d=4 -f rawvideo -",
      `${PICTURE} -f md5 -`,
    )
    expect(report).toMatchObject({
      kind: "finished",
      stdout: expect.stringMatching(/^MD5=\w{32}\n$/),
      result: {
        warnings: [
          {
            code: "binary_stdout",
            message:
              "Command 1 of 2: The command wrote 23040000 bytes to standard output that are not text and were not kept: write them to an output.",
          },
        ],
      },
      log: expect.stringContaining("\nStandard output: 23040000 bytes, not text\n"),
    })
  })

  test("of a container is told as binary, and absent", async () => {
    const report = await run(`${PICTURE} -c:v mpeg2video -f mpegts pipe:1`)
    expect(report).toMatchObject({ result: { warnings: [{ code: "binary_stdout" }] } })
    expect(report).not.toHaveProperty("stdout")
  })

  test("is kept of a job that fails later", async () => {
    const report = await run(`${PICTURE} -f md5 -`, "-i missing.mp4 -f md5 -")
    expect(report).toMatchObject({ kind: "failed", stdout: expect.stringMatching(/^MD5=/) })
  })

  test("is absent if nothing is written there", async () => {
    expect(await run(`${PICTURE} -f null -`)).not.toHaveProperty("stdout")
  })
})

describe("the text of standard output", () => {
  const position = { number: 1, total: 1 }

  function read(...chunks: (string | number[])[]): TaskStdout {
    const stdout = new TaskStdout()
    for (const chunk of chunks) {
      stdout.read(typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk))
    }
    stdout.end(position)
    return stdout
  }

  test("may be divided within a character", () => {
    const [first, second] = [Buffer.from("ä").subarray(0, 1), Buffer.from("ä").subarray(1)]
    expect(read([...first], [...second]).text).toBe("ä")
  })

  test.for<[string, number[]]>([
    ["invalid UTF-8", [0xff, 0xfe]],
    ["a NUL", [0x61, 0]],
    ["control characters", [0x61, 0x10]],
  ])("is none with %s", ([, bytes]) => {
    const stdout = read("text\n", bytes, "text\n")
    expect(stdout.text).toBeUndefined()
    expect(stdout.warnings).toMatchObject([{ code: "binary_stdout" }])
  })

  test("has at most 64 KB in whole characters, also of several commands", () => {
    const stdout = read("ä€".repeat(50_000))
    stdout.read(Buffer.from("b"))
    stdout.end(position)
    expect(Buffer.byteLength(stdout.text ?? "")).toBeGreaterThan(BYTES_MAX - 3)
    expect(Buffer.byteLength(stdout.text ?? "")).toBeLessThanOrEqual(BYTES_MAX)
    expect(stdout.text).toMatch(/^ä?(?:€ä)*€b$/)
  })

  test("ends before a character whose end is missing", () => {
    expect(read("a", [0xc3]).text).toBe("a")
  })
})
