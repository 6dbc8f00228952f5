import { execFileSync } from "node:child_process"
import { link, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { crc32 } from "node:zlib"
import { assignFilesToBundles } from "../../../container/tasks/outputs/assign-bundle-files.ts"
import type { Report } from "../../../src/contract/report.ts"
import type { TaskOrder } from "../../../src/contract/task.ts"
import { commandOutputs, startHarness } from "../harness.ts"
import type { Harness } from "../harness.ts"

const PICTURE = "-f lavfi -i testsrc2=size=64x36:rate=10:d=2"
const SOUND = "-f lavfi -i sine=d=2"
const HLS = "-f hls -hls_time 1 -g 10 -c:v libx264 -preset ultrafast"

const never = new AbortController().signal

let harness: Harness

beforeEach(async () => {
  harness = await startHarness({ outputPartBytes: 20_000 })
})

afterEach(() => harness.close())

/** Creates an order for commands whose outputs have these names. */
function orderOf(commands: string[][], names: string[]): TaskOrder {
  const outputs = names.map((name, index) => ({ key: `out_${index + 1}`, name }))
  const work = { kind: "command" as const, commands, outputs, run_seconds_max: 60 }
  return harness.order(commands, { work })
}

/** Runs commands whose outputs have these names, with keys `out_1` and so on. */
async function run(lines: string[], names: string[]): Promise<Report> {
  const commands = lines.map((line) => line.split(" "))
  return await harness.finish(orderOf(commands, names))
}

/** Returns the names of the members of each output, by its key. */
function membersOf(report: Report): Record<string, string[] | undefined> {
  expect(report.kind === "failed" ? report.failure : report.kind).toBe("finished")
  return Object.fromEntries(
    commandOutputs(report).map(({ key, members }) => [key, members?.map(({ name }) => name)]),
  )
}

describe("a bundle", () => {
  test("of numbered pictures has all of them, with size and CRC-32", async () => {
    const report = await run([`${PICTURE} out_1`], ["frame %03d.png"])
    const names = membersOf(report)["out_1"] ?? []
    expect(names).toHaveLength(20)
    expect(names.at(0)).toBe("frame 001.png")
    const [output] = commandOutputs(report)
    expect(output).toMatchObject({ content_type: "application/zip" })
    expect(output).not.toHaveProperty("probe")
    let bytes = 0
    for (const member of output?.members ?? []) {
      const stored = harness.io.outputs.get(`out_1/${member.name}`)
      expect(stored?.contentType).toBe("image/png")
      expect([member.size_bytes, member.crc32]).toEqual([
        stored?.bytes.length,
        crc32(stored?.bytes ?? new Uint8Array()),
      ])
      bytes += member.size_bytes
    }
    expect(output?.size_bytes).toBe(bytes)
    const manifest = new TextDecoder().decode(harness.io.outputs.get("out_1")?.bytes)
    expect(JSON.parse(manifest)).toEqual({ members: output?.members })
  })

  test("uploads large members in parts, with the CRC-32 of the whole", async () => {
    const report = await run(["-f lavfi -i sine=d=6 -f segment -segment_time 3 out_1"], ["a%d.wav"])
    membersOf(report)
    const [member] = commandOutputs(report)[0]?.members ?? []
    const stored = harness.io.outputs.get("out_1/a0.wav")
    expect(stored?.partSizes.length).toBeGreaterThan(2)
    expect(member?.crc32).toBe(crc32(stored?.bytes ?? new Uint8Array()))
  })

  test("of a playlist has the playlist first, the files that it names, and its duration", async () => {
    const report = await run([`${PICTURE} ${HLS} -hls_segment_type fmp4 out_1`], ["Stück 1.m3u8"])
    expect(membersOf(report)).toEqual({
      out_1: ["Stück 1.m3u8", "init.mp4", "Stück 10.m4s", "Stück 11.m4s"],
    })
    expect(commandOutputs(report)).toMatchObject([
      { content_type: "application/vnd.apple.mpegurl", duration_seconds: 2 },
    ])
  })

  test("has no pass logs, inputs or plain outputs", async () => {
    const pass = `${PICTURE} -c:v libx264 -b:v 50k -preset ultrafast`
    harness.io.inputs.set("in_1", new TextEncoder().encode("text"))
    const report = await run(
      [
        `${pass} -pass 1 -f null -`,
        `${pass} -pass 2 -y out_2`,
        `${SOUND} -f segment -segment_time 1 -segment_list list.csv out_1`,
      ],
      ["sound_%d.wav", "picture.mp4"],
    )
    expect(membersOf(report)).toEqual({
      out_1: ["list.csv", "sound_0.wav", "sound_1.wav"],
      out_2: undefined,
    })
  })

  test("has only regular files: no links, folders or pipes", async () => {
    const workspace = await mkdtemp(join(tmpdir(), "lathe-bundle-"))
    function at(name: string): string {
      return join(workspace, name)
    }
    await writeFile(at("f_1.png"), "one")
    await writeFile(at("f_2.png"), "two")
    await link(at("f_2.png"), at("f_3.png"))
    await symlink("/etc/passwd", at("f_4.png"))
    await mkdir(at("f_5.png"))
    execFileSync("mkfifo", [at("f_6.png")])
    await writeFile(at("left.tmp"), "")
    await writeFile(at("x265_2pass.log.cutree"), "log")
    const order = harness.order([["x"]])
    const outputs = [{ key: "out_1", name: "f_%d.png" }]
    const gathered = await assignFilesToBundles({ workspace, order, signal: never }, outputs)
    await rm(workspace, { recursive: true })
    expect(gathered).toEqual(
      new Map([
        [
          "out_1",
          { names: ["f_1.png"], playlist: null, durationSeconds: null, isEncrypted: false },
        ],
      ]),
    )
  })

  test("has the files that it names, and the first bundle has all others", async () => {
    const report = await run(
      [
        `${SOUND} -f segment -segment_time 1 out_1`,
        `${PICTURE} ${HLS} out_2`,
        `${PICTURE} -frames:v 1 poster.png`,
      ],
      ["part_%d.wav", "film.m3u8"],
    )
    expect(membersOf(report)).toEqual({
      out_1: ["part_0.wav", "part_1.wav", "poster.png"],
      out_2: ["film.m3u8", "film0.ts", "film1.ts"],
    })
  })

  test("shares a file that two bundles need, so that each plays alone", async () => {
    const report = await run(
      [`${PICTURE} ${HLS} -hls_segment_filename out_2 out_1`],
      ["film.m3u8", "seg_%02d.ts"],
    )
    expect(membersOf(report)).toEqual({
      out_1: ["film.m3u8", "seg_00.ts", "seg_01.ts"],
      out_2: ["seg_00.ts", "seg_01.ts"],
    })
  })

  test("of variants has the segments of each, and the master playlist", async () => {
    const line = `${PICTURE} ${SOUND} -map 0:v -map 1:a -map 0:v -map 1:a ${HLS}`
    const variants = "-master_pl_name master.m3u8 -var_stream_map"
    const words = [...`${line} ${variants}`.split(" "), "v:0,a:0 v:1,a:1", "out_1"]
    const report = await harness.finish(orderOf([words], ["stream_%v.m3u8"]))
    const names = membersOf(report)["out_1"] ?? []
    expect(names).toContain("master.m3u8")
    expect(names).toContain("stream_1.m3u8")
    expect(names.filter((name) => name.endsWith(".ts")).length).toBeGreaterThanOrEqual(4)
    expect(commandOutputs(report)).toMatchObject([{ duration_seconds: expect.closeTo(2, 0) }])
  })

  test("of a DASH manifest has the files that match its templates", async () => {
    const report = await run(
      [
        `${PICTURE} ${SOUND} -f dash -seg_duration 1 -g 10 -c:v libx264 -preset ultrafast out_2`,
        `${PICTURE} -frames:v 2 out_1`,
      ],
      ["still_%d.jpg", "film.mpd"],
    )
    const { out_1: stills, out_2: film } = membersOf(report)
    expect(stills).toEqual(["still_1.jpg", "still_2.jpg"])
    expect(film?.slice(0, 3)).toEqual([
      "film.mpd",
      "chunk-stream0-00001.m4s",
      "chunk-stream0-00002.m4s",
    ])
    expect(film).toContain("init-stream1.m4s")
    expect(commandOutputs(report)).toMatchObject([{}, { duration_seconds: expect.closeTo(2, 0) }])
  })

  test.for<[string, string, string]>([
    ["an empty series", "other.wav", "frame_%03d.png"],
    ["a playlist that was not written", "other.wav", "list.m3u8"],
  ])("fails without an output for %s", async ([, written, name]) => {
    const names = name.includes("%") ? ["all.m3u8", name] : [name]
    const hls = name.includes("%") ? [`${SOUND} -f hls out_1`] : [`${SOUND} ${written}`]
    const report = await run(hls, names)
    expect(report).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: {
        code: "no_output",
        message: `The output out_${names.length} ("${name}") was not made.`,
      },
    })
  })

  test("uploads nothing if a later command fails", async () => {
    const report = await run([`${PICTURE} ${HLS} out_1`, `-i none.mp4 x.mp4`], ["film.m3u8"])
    expect(report).toMatchObject({ kind: "failed" })
    expect(harness.io.outputs.size).toBe(0)
  })

  test("is a plain file if its only file is named like the pattern", async () => {
    const report = await run([`${SOUND} out_1`], ["part_%d.wav"])
    expect(report).toMatchObject({
      kind: "finished",
      result: {
        outputs: [{ key: "out_1", content_type: "audio/wav", probe: { format_name: "wav" } }],
      },
    })
    expect(report).not.toHaveProperty("result.outputs.0.members")
  })

  test("with a file name that an archive cannot hold fails", async () => {
    const report = await run([`${SOUND} -f segment back\\slash_%d.wav`], ["part_%d.wav"])
    expect(report).toMatchObject({
      failure: { code: "no_output", message: expect.stringContaining("no backslash") },
    })
  })

  test.for<[string, string[]]>([
    ["more files than a command may make", Array.from({ length: 5001 }, (_, n) => `f_${n}.png`)],
    [
      "names that exceed their total length",
      Array.from({ length: 2000 }, (_, n) => `${"é".repeat(110)}_${n}.png`),
    ],
  ])("with %s fails", async ([, names]) => {
    const workspace = await mkdtemp(join(tmpdir(), "lathe-bundle-"))
    for (const name of names) await writeFile(join(workspace, name), "x")
    const order = harness.order([["x"]])
    const outputs = [{ key: "out_1", name: "f_%d.png" }]
    const gathered = await assignFilesToBundles({ workspace, order, signal: never }, outputs)
    await rm(workspace, { recursive: true })
    expect(gathered).toMatchObject({ blame: "caller", failure: { code: "file_limit" } })
  })

  test("uploads a member again after a 503", async () => {
    const failed = new Set<string>()
    harness.io.intercept = (call) => {
      if (!call.includes("/members/") || failed.has(call)) return null
      failed.add(call)
      return new Response(null, { status: 503 })
    }
    expect(membersOf(await run([`${PICTURE} ${HLS} out_1`], ["film.m3u8"]))["out_1"]).toHaveLength(
      3,
    )
    expect(failed.size).toBeGreaterThanOrEqual(3)
  })

  test("of 300 files is stored with 8 uploads at a time", async () => {
    const { io } = harness
    const serve = io.fetch.bind(io)
    let [atOnce, most] = [0, 0]
    io.fetch = async (request) => {
      const isMember = request.url.includes("/members/")
      atOnce += isMember ? 1 : 0
      most = Math.max(most, atOnce)
      if (isMember) await sleep(5)
      atOnce -= isMember ? 1 : 0
      return await serve(request)
    }
    const report = await run(["-f lavfi -i color=s=16x16:r=100:d=3 out_1"], ["f_%d.png"])
    expect(membersOf(report)["out_1"]).toHaveLength(300)
    expect(most).toBe(8)
  })
})
