import { createDecipheriv, randomBytes } from "node:crypto"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Report } from "../../../../src/contract/report.ts"
import { commandOutputs, startHarness } from "../../harness.ts"
import type { Harness } from "../../harness.ts"

const KEY_URL = "https://keys.example/movie?id=1&token=a"
const PICTURE = "-f lavfi -i testsrc=s=64x48:d=4:r=10"
const HLS = `${PICTURE} -c:v mpeg2video -g 10 -f hls -hls_time 1 -hls_list_size 0`
const PACKET_BYTES = 188

let harness: Harness

beforeEach(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await harness.closeClean()
})

/** Makes a playlist, with files as inputs; returns the last report. */
async function run(
  options: string,
  files: Record<string, string | Uint8Array>,
  outputName = "list.m3u8",
): Promise<Report> {
  const inputs = Object.entries(files).map(([key, content]) => {
    const bytes = new Uint8Array(typeof content === "string" ? Buffer.from(content) : content)
    harness.io.inputs.set(key, bytes)
    const name = key === "in_3" ? "in_3.key" : `${key}.txt`
    return { key, name, size_bytes: bytes.length }
  })
  const work = {
    kind: "command",
    commands: [`${HLS} ${options} out_1`.split(" ")],
    outputs: [{ key: "out_1", name: outputName }],
    run_seconds_max: 60,
  }
  return await harness.finish(harness.order([["x"]], { inputs, work }))
}

function membersOf(report: Report): string[] {
  return commandOutputs(report)[0]?.members?.map(({ name }) => name) ?? []
}

function storedText(name: string): Buffer {
  return Buffer.from(harness.io.outputs.get(`out_1/${name}`)?.bytes ?? [])
}

/** Decrypts a segment, and reports whether it then is a transport stream. */
function isStream(name: string, key: Uint8Array, iv: Uint8Array): boolean {
  const cipher = createDecipheriv("aes-128-cbc", key, iv)
  const bytes = Buffer.concat([cipher.update(storedText(name)), cipher.final()])
  const packets = Array.from({ length: bytes.length / PACKET_BYTES }, (_, index) => {
    return bytes[index * PACKET_BYTES]
  })
  return packets.length > 1 && packets.every((first) => first === 0x47)
}

describe("segments are encrypted by the caller's key", () => {
  test.for(["{{in_3}}", "in_3", "in_3.key"])("which key information names as %s", async (named) => {
    const key = randomBytes(16)
    const iv = randomBytes(16)
    const info = `${KEY_URL}\r\n ${named} \n${iv.toString("hex")}\n`
    const report = await run("-hls_key_info_file {{in_2}}", { in_2: info, in_3: key })
    expect(report).toMatchObject({ kind: "finished" })
    const segments = membersOf(report).slice(1)
    expect(membersOf(report)).toEqual(["list.m3u8", "list0.ts", "list1.ts", "list2.ts", "list3.ts"])
    const playlist = storedText("list.m3u8").toString()
    expect(playlist).toContain(
      `#EXT-X-KEY:METHOD=AES-128,URI="${KEY_URL}",IV=0x${iv.toString("hex")}`,
    )
    for (const segment of segments) {
      expect(storedText(segment)[0]).not.toBe(0x47)
      expect(isStream(segment, key, iv)).toBe(true)
    }
  })

  test("with the IV of the playlist, if the third line is left out", async () => {
    const key = randomBytes(16)
    const report = await run("-hls_key_info_file in_2", { in_2: `${KEY_URL}\nin_3`, in_3: key })
    const [, digits = ""] = /,IV=0x(\w{32})\n/.exec(storedText("list.m3u8").toString()) ?? []
    expect(membersOf(report)).toHaveLength(5)
    for (const segment of membersOf(report).slice(1)) {
      expect(isStream(segment, key, Buffer.from(digits, "hex"))).toBe(true)
    }
  })
})

// Encrypted bytes look by chance like a format without any frame, one time in ten.
test("small encrypted segments are never taken for empty ones", async () => {
  for (let each = 0; each < 15; each += 1) {
    harness.io.reports.length = 0
    const files = { in_2: `${KEY_URL}\nin_3\n`, in_3: randomBytes(16) }
    expect(await run("-hls_key_info_file in_2", files)).toMatchObject({ kind: "finished" })
  }
})

test("encrypted segments that last no time are empty", async () => {
  const files = { in_2: `${KEY_URL}\nin_3\n`, in_3: randomBytes(16) }
  const report = await run("-hls_key_info_file in_2 -t 0", files)
  expect(report).toMatchObject({ failure: { code: "no_output" } })
})

test("a key that ffmpeg writes is no file of the playlist", async () => {
  const key = "0123456789abcdef"
  const own = await run(`-hls_enc 1 -hls_enc_key ${key}`, {})
  expect(membersOf(own)).toEqual(["list.m3u8", "list0.ts", "list1.ts", "list2.ts", "list3.ts"])
  expect(storedText("list.m3u8").toString()).toContain('URI="list.m3u8.key"')
  harness.io.reports.length = 0
  const named = await run(`-hls_enc 1 -hls_enc_key ${key} -hls_enc_key_url secret.bin`, {})
  expect(membersOf(named)).toEqual(membersOf(own))
  expect(storedText("list.m3u8").toString()).toContain('URI="secret.bin"')
  harness.io.reports.length = 0
  const pattern = "-hls_segment_filename %v_%d.ts -map 0 -var_stream_map"
  const variants = await run(`${pattern} v:0 -hls_enc 1 -hls_enc_key ${key}`, {}, "list_%v.m3u8")
  expect(variants).toMatchObject({ kind: "finished" })
  expect(membersOf(variants).toSorted()).toEqual(
    ["0_0.ts", "0_1.ts", "0_2.ts", "0_3.ts", "list_0.m3u8"].toSorted(),
  )
})

describe("key information is refused", () => {
  const KEY = "k".repeat(16)

  test.for<[string, string | Uint8Array, string | Uint8Array, string]>([
    ["a path", `${KEY_URL}\n/etc/passwd`, KEY, 'line 2: "/etc/passwd": expected the input'],
    ["a path that climbs", `${KEY_URL}\n../in_3.key`, KEY, "line 2:"],
    ["a path in the workspace", `${KEY_URL}\n./in_3.key`, KEY, "line 2:"],
    ["a protocol", `${KEY_URL}\nfile:in_3.key`, KEY, "line 2:"],
    ["a URL of a key", `${KEY_URL}\nhttp://127.0.0.1/key`, KEY, "line 2:"],
    ["a pipe", `${KEY_URL}\npipe:0`, KEY, "line 2:"],
    ["an output", `${KEY_URL}\nout_1`, KEY, "line 2:"],
    ["no key", KEY_URL, KEY, 'line 2: "": expected the input'],
    [
      "http",
      "http://127.0.0.1/key\nin_3",
      KEY,
      'line 1: "http://127.0.0.1/key": expected the https',
    ],
    ["a file as URL", "file:///etc/passwd\nin_3", KEY, "line 1:"],
    ["a name as URL", "list.key\nin_3", KEY, "line 1:"],
    ["a quote in the URL", `https://a.example/"\nin_3`, KEY, "line 1:"],
    ["a space in the URL", "https://a.example/a b\nin_3", KEY, "line 1:"],
    ["a long URL", `https://a.example/${"a".repeat(2000)}\nin_3`, KEY, "line 1:"],
    ["no host", "https:///key\nin_3", KEY, "line 1:"],
    ["a short IV", `${KEY_URL}\nin_3\n00112233`, KEY, 'line 3: "00112233": expected an IV of 32'],
    ["a path as IV", `${KEY_URL}\nin_3\n/etc/passwd`, KEY, "line 3:"],
    ["a fourth line", `${KEY_URL}\nin_3\n${"0".repeat(32)}\nmore`, KEY, "line 4:"],
    [
      "a key of 15 bytes",
      `${KEY_URL}\nin_3`,
      "k".repeat(15),
      'the key "in_3.key" has 15 bytes; expected 16',
    ],
    ["a key of 17 bytes", `${KEY_URL}\nin_3`, "k".repeat(17), "has 17 bytes; expected 16"],
    ["a key of no bytes", `${KEY_URL}\nin_3`, "", "has 0 bytes; expected 16"],
    ["10 MB", new Uint8Array(10_000_000).fill(0x61), KEY, "is not key information"],
    ["a key of 10 MB", `${KEY_URL}\nin_3`, new Uint8Array(10_000_000), "has 10000000 bytes"],
    ["NULs", `${KEY_URL}\0\nin_3\0`, KEY, "is not key information"],
    ["no text", new Uint8Array([0xff, 0xfe, 0x0a]), KEY, "is not key information"],
    ["nothing", "\n", KEY, "line 1:"],
  ])("with %s", async ([, info, key, sentence]) => {
    const report = await run("-hls_key_info_file {{in_2}}", { in_2: info, in_3: key })
    expect(report).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: { code: "invalid_input", message: expect.stringContaining(sentence) },
    })
    const { message } = report.kind === "failed" ? report.failure : { message: "" }
    expect(message).toMatch(/^-hls_key_info_file: "in_2.txt".*\.$/)
    expect(harness.io.outputs.size).toBe(0)
  })

  test.for(["/etc/passwd", "in_2.key", "../in_2.txt", ".key-info.in_2"])(
    "that is no input: %s",
    async (name) => {
      const report = await run(`-hls_key_info_file ${name}`, {
        in_2: `${KEY_URL}\nin_3`,
        in_3: KEY,
      })
      expect(report).toMatchObject({ failure: { code: "name_not_allowed" } })
    },
  )
})
