import { createDecipheriv, randomBytes } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { madeFiles, openAccount } from "../../corpus/account.ts"
import type { Account, CommandRecord } from "../../corpus/account.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const PICTURE = "-f lavfi -i testsrc=s=64x48:d=2:r=10 -pix_fmt yuv420p"
const VIDEO = `${PICTURE} -c:v libx264 -g 10`

let service: TestService
let account: Account

beforeAll(async () => {
  service = await startService()
  account = openAccount(service.origin, await service.makeKey("command files"))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

/** Runs a command on texts and bytes, which are uploaded; returns its record. */
async function run(
  line: string,
  outputs: Record<string, string> = {},
  inputs: Record<string, string | Uint8Array<ArrayBuffer>> = {},
): Promise<CommandRecord> {
  const uploads = Object.entries(inputs).map(async ([key, content]) => {
    return [key, `svc_id://${(await account.upload(`${key}.txt`, content)).id}`] as const
  })
  const { record, refused } = await account.run({
    ffmpeg_command: `ffmpeg ${line}`,
    input_files: Object.fromEntries(await Promise.all(uploads)),
    output_files: outputs,
  })
  if (!record) throw new Error(refused.text)
  return record
}

/** Returns the files of the only output of a command, by name. */
async function readMembers(record: CommandRecord): Promise<Map<string, Buffer>> {
  const members = madeFiles(record).flatMap(({ files = [] }) => files)
  const read = members.map(async ({ name, download_url }) => {
    return [name, Buffer.from(await account.download(download_url))] as const
  })
  return new Map(await Promise.all(read))
}

test("a bare key is replaced only where a file belongs, whatever it is called", async () => {
  const made = await run(
    `${PICTURE} -c:v libx264 -preset fast -metadata title=mp4 -vf drawtext=text=fast -f mp4 mp4 -map 0:v -c:v rawvideo -f nut copy`,
    { mp4: "a.mp4", copy: "b.nut" },
  )
  expect(made).toMatchObject({
    status: "success",
    output_files: { mp4: { name: "a.mp4" }, copy: { name: "b.nut" } },
  })
  const file = await (await account.call(`/files/${madeFiles(made)[0]?.id}`)).json()
  expect(file).toMatchObject({ ffprobe: { format: { tags: { title: "mp4" } } } })
})

describe("an output has the name that its caller gives", () => {
  test.for(["it's.mp4", "Q&A.mp4", "50% off.mp4"])("%s", async (name) => {
    const record = await run(`${VIDEO} {{out_1}}`, { out_1: name })
    const [made] = madeFiles(record)
    expect(made?.name).toBe(name)
    const answer = await account.call(made?.download_url ?? "")
    expect(answer.status).toBe(200)
  })

  test("within a filter, whatever characters it has", async () => {
    const name = "a,b;c[d]:e='f'.log"
    const record = await run(
      `${PICTURE} -vf metadata=add:key=a:value=b,metadata=print:file={{out_1}} -f null -`,
      {
        out_1: name,
      },
    )
    const [made] = madeFiles(record)
    expect(made?.name).toBe(name)
    expect(Buffer.from(await account.download(made?.download_url ?? "")).toString()).toMatch(
      /^frame:0 /,
    )
  })

  test("of a playlist, whose link opens it with its segments", async () => {
    const record = await run(`${VIDEO} -f hls -hls_time 1 {{out_1}}`, { out_1: "it's 50%.m3u8" })
    const [made] = madeFiles(record)
    expect(made).toMatchObject({ name: "it's 50%.m3u8", playlist: "it_s 50_.m3u8" })
    const playlist = Buffer.from(await account.download(made?.download_url ?? "")).toString()
    expect(playlist).toContain("\nit_s 50_0.ts\n")
    expect([...(await readMembers(record)).keys()]).toEqual([
      "it_s 50_.m3u8",
      "it_s 50_0.ts",
      "it_s 50_1.ts",
    ])
    const published = await account.call(`/files/${made?.id}/publish`, { method: "POST" })
    const { public_url } = z.object({ public_url: z.url() }).parse(await published.json())
    expect(await (await fetch(public_url)).text()).toBe(playlist)
  })

  test("of a series, with its percent signs", async () => {
    const record = await run(`${PICTURE} -vf fps=1 {{out_1}}`, { out_1: "50% off %03d.png" })
    expect(madeFiles(record)[0]?.name).toBe("50% off.zip")
    expect([...(await readMembers(record)).keys()]).toEqual(["50% off 001.png", "50% off 002.png"])
  })

  test("of a series by the time", async () => {
    const record = await run(`${PICTURE} -frames:v 1 -f image2 -strftime 1 {{out_1}}`, {
      out_1: "shot %Y-%m-%d.png",
    })
    expect(madeFiles(record)[0]?.name).toBe("shot.zip")
    expect([...(await readMembers(record)).keys()]).toEqual([
      expect.stringMatching(/^shot \d{4}-\d\d-\d\d\.png$/),
    ])
  })
})

describe("standard output", () => {
  test("is in the record and in the log of a command without outputs", async () => {
    const record = await run(`${PICTURE} -f framemd5 - -metadata title=Ü -f ffmetadata pipe:1`)
    expect(record).toMatchObject({ status: "success", output_files: {}, warnings: [] })
    expect(record["stdout"]).toMatch(/#format: frame checksums[^]+0, +19, .*[0-9a-f]{32}\n/)
    expect(record["stdout"]).toContain("title=Ü\n")
    const log = await (await account.call(String(record["log"]))).text()
    expect(log).toContain("\nStandard output:\n")
    const job = await (await account.call(`/jobs/${record.id}`)).json()
    expect(job).toMatchObject({ stdout: record["stdout"] })
  })

  test("has a warning and no text in the record if it is media", async () => {
    const record = await run(`${VIDEO} -f mpegts - -c:v libx264 {{out_1}}`, { out_1: "a.mp4" })
    expect(record).toMatchObject({ status: "success", warnings: [{ code: "binary_stdout" }] })
    expect(record).not.toHaveProperty("stdout")
  })
})

describe("a graph file", () => {
  test("is an input that any FFmpeg reads, by the old option and the new one", async () => {
    const graph = "[0:v] hflip,\n drawtext=textfile=in_2 [v]\n"
    for (const option of ["-filter_complex_script", "-/filter_complex"]) {
      const record = await run(
        `${PICTURE.replace(" -pix_fmt yuv420p", "")} ${option} {{in_1}} -map [v] -f md5 -`,
        {},
        { in_1: graph, in_2: "Hello" },
      )
      expect(record).toMatchObject({ status: "success", stdout: expect.stringMatching(/^MD5=/) })
    }
  })

  test("fails the job with the code of its refusal if it reads another file", async () => {
    const record = await run(
      `${PICTURE} -/vf {{in_1}} -f null -`,
      {},
      { in_1: "movie=/etc/passwd" },
    )
    expect(record).toMatchObject({
      status: "failed",
      attempts: 1,
      error_code: "path_not_allowed",
      error: expect.stringMatching(/^-\/vf: the filter movie, filename: "\/etc\/passwd": paths/),
    })
  })
})

test("segments are encrypted by the key of a caller, and the key is no file of theirs", async () => {
  const key = new Uint8Array(randomBytes(16))
  const iv = randomBytes(16)
  const info = `https://keys.example/film\n{{in_3}}\n${iv.toString("hex")}\n`
  const record = await run(
    `${VIDEO} -f hls -hls_time 1 -hls_key_info_file {{in_2}} {{out_1}}`,
    { out_1: "film.m3u8" },
    { in_2: info, in_3: key },
  )
  expect(record.error).toBeUndefined()
  const members = await readMembers(record)
  expect([...members.keys()]).toEqual(["film.m3u8", "film0.ts", "film1.ts"])
  expect(members.get("film.m3u8")?.toString()).toContain(`URI="https://keys.example/film",IV=0x`)
  for (const [name, bytes] of members) {
    expect(bytes.includes(Buffer.from(key))).toBe(false)
    if (!name.endsWith(".ts")) continue
    const cipher = createDecipheriv("aes-128-cbc", key, iv)
    const stream = Buffer.concat([cipher.update(bytes), cipher.final()])
    expect([bytes[0] === 0x47, stream[0], stream[188]]).toEqual([false, 0x47, 0x47])
  }
})
