import { describe, expect, test } from "vitest"
import { createCallerToolLog } from "../../../../container/tools/ffmpeg/tool-log.ts"
import { LOG_BYTES_MAX } from "../../../../src/contract/report.ts"

const WORKSPACE = "/work/task-1"
const NAMES = new Map([
  ["in_1", "in_1.mp4"],
  ["in_10", "in_10.mp4"],
  ["out_1", "a film.mp4"],
  ["out_2", "plain"],
])

function logOf(lines: string[], names: ReadonlyMap<string, string> = NAMES): string {
  const log = createCallerToolLog(WORKSPACE, names)
  for (const line of lines) log.read(line)
  return log.text()
}

describe("the log of a task", () => {
  test("has the lines unchanged, without progress", () => {
    const lines = [
      "Stream mapping:",
      "  Stream #0:0 -> #0:0 (h264 (native) -> mpeg4 (native))",
      "Press [q] to stop, [?] for help",
      "frame=    1 fps=0.0 q=2.0 size=       0kB time=00:00:00.16 bitrate=   2.2kbits/s speed=17.4x    ",
      "size=     136kB time=00:00:15.03 bitrate=  74.0kbits/s speed=37.3x    ",
      "size=N/A time=00:00:15.03 bitrate=N/A speed= 900x    ",
      '\t"input_i" : "-27.61",',
      "frame:12 pts:3 the words of a filter",
    ]
    expect(logOf(lines)).toBe(`${[lines[0], lines[1], lines[6], lines[7]].join("\n")}\n`)
    expect(logOf([])).toBe("")
  })

  test.for([
    ["in_1.mp4: corrupt input packet in stream 0", "{{in_1}}: corrupt input packet in stream 0"],
    ["Input #1, mov, from 'in_10.mp4':", "Input #1, mov, from '{{in_10}}':"],
    ["Output #0, mp4, to 'a film.mp4':", "Output #0, mp4, to '{{out_1}}':"],
    ["a plain in_1.mp4.txt and xin_1.mp4", "a plain in_1.mp4.txt and xin_1.mp4"],
    [`Opening '${WORKSPACE}/in_1.mp4'`, "Opening '{{in_1}}'"],
    [`in ${WORKSPACE} itself`, "in . itself"],
    ["[libx264 @ 0x55d0beef] profile High", "[libx264] profile High"],
    ["Using /usr/share/fonts/truetype/A.ttf", "Using A.ttf"],
    ["Output #0, null, to '/dev/null':", "Output #0, null, to '/dev/null':"],
    ["comment: https://example.com/a/b?c 24/1 fps", "comment: https://example.com/a/b?c 24/1 fps"],
    ["a\u0000b\u001b[31mc\u2028", "ab[31mc"],
  ])("shows %j as %j", ([line, shown]) => {
    expect(logOf([line ?? ""])).toBe(`${shown}\n`)
  })

  test("hides whether a path outside exists, even long after its first line", () => {
    const filler = Array.from({ length: 3000 }, () => "x".repeat(80))
    const text = logOf([
      "Impossible to open '/etc/shadow'",
      ...filler,
      "in_1.mp4: Permission denied",
    ])
    expect(text).not.toContain("denied")
    expect(text).toMatch(/\n\{\{in_1\}\}: cannot be opened\n$/)
  })

  test("has a heading for each of several commands, and none for one", () => {
    const log = createCallerToolLog(WORKSPACE, NAMES)
    for (const number of [1, 2]) {
      log.begin({ number, total: 2 })
      log.read("a line")
    }
    expect(log.text()).toBe("Command 1 of 2:\na line\nCommand 2 of 2:\na line\n")
    const one = createCallerToolLog(WORKSPACE, NAMES)
    one.begin({ number: 1, total: 1 })
    expect(one.text()).toBe("")
  })

  test("has the last lines within its limit, or the end of a longer line", () => {
    const lines = Array.from({ length: 50_000 }, (_, at) => `${at} ${"ä".repeat(50)}`)
    const text = logOf(lines)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LOG_BYTES_MAX)
    expect(Buffer.byteLength(text)).toBeGreaterThan(LOG_BYTES_MAX - 200)
    expect(text.endsWith(`\n${lines.at(-1)}\n`)).toBe(true)
    expect(lines).toContain(text.split("\n")[0])
    const long = logOf([`${"ä".repeat(LOG_BYTES_MAX)}end`])
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(LOG_BYTES_MAX)
    expect(long).toMatch(/^ä+end\n$/)
  })

  test("stays within its limit if keys are longer than names", () => {
    const names = new Map([[`key_${"x".repeat(60)}`, "a.b"]])
    const text = logOf(
      Array.from({ length: 20_000 }, () => "a.b"),
      names,
    )
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LOG_BYTES_MAX)
  })
})
