import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { FILE_NAMES } from "../../corpus/hostile-names.ts"
import { openAccount } from "../../corpus/account.ts"
import type { Account } from "../../corpus/account.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const BOUNDARY = "a-boundary-that-is-nowhere-else"

const record = z.looseObject({ id: z.string(), name: z.string(), download_url: z.string() })

let service: TestService
let account: Account
let sound: Buffer

beforeAll(async () => {
  service = await startService()
  account = openAccount(service.origin, await service.makeKey("names"))
  const made = await account.run({
    ffmpeg_command: "ffmpeg -f lavfi -i sine=d=0.1 out_1",
    input_files: {},
    output_files: { out_1: "a.wav" },
  })
  const { id } = record.parse(made.record?.output_files["out_1"])
  sound = Buffer.from(await account.download(`${service.origin}/v1/files/${id}/a.wav`))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

/** Uploads a sound under a name that stands in the header as it is. */
async function upload(name: string): Promise<Response> {
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
  return await account.call("/files", {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}`, prefer: "wait=30" },
    body: Buffer.concat([Buffer.from(head), sound, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]),
  })
}

describe.concurrent("a file uploaded as", () => {
  test.for(FILE_NAMES.map((name) => [JSON.stringify(name).slice(0, 40), name] as const))(
    "%s is kept under a harmless name, or refused",
    async ([, given]) => {
      const answer = await upload(given)
      expect([201, 400, 422]).toContain(answer.status)
      if (answer.status !== 201) return
      const { id, name, download_url: url } = record.parse(await answer.json())
      expect(name).toMatch(/^(?!\.+$)[^\p{Cc}\p{Cf}/\\]{1,200}$/u)
      const download = await account.call(url)
      expect(Buffer.from(await download.arrayBuffer())).toEqual(sound)
      expect(download.headers.get("content-disposition")).toMatch(/^attachment/)
      expect(download.headers.get("x-injected")).toBeNull()
      const { record: job, refused } = await account.run({
        ffmpeg_command: "ffmpeg -f wav -i in_1 -c copy -f wav out_1",
        input_files: { in_1: `svc_id://${id}` },
        output_files: { out_1: "out.wav" },
      })
      expect([job?.status, refused]).toEqual(["success", null])
    },
  )
})

describe("a link", () => {
  test("opens nothing but its own file", async () => {
    const { id } = record.parse(await (await upload("a.wav")).json())
    const paths = ["..", "%2e%2e%2fa.wav", "../a.wav", "a.wav/..", "b.wav", "%00", "", "a.wav%00"]
    for (const name of paths) {
      const answer = await account.call(`/files/${id}/${name}`, { redirect: "manual" })
      expect([name, answer.status < 500, answer.status === 302]).toEqual([name, true, false])
    }
    const [, token = ""] = /\/media\/([^/]+)\//.exec(await linkOf(id)) ?? []
    for (const forged of [
      `${token}x`,
      token.slice(1),
      token.split(".").toReversed().join("."),
      "a.b",
    ]) {
      const answer = await fetch(`${service.origin}/media/${forged}/a.wav`)
      expect([401, 403, 404, 410]).toContain(answer.status)
    }
  })
})

async function linkOf(id: string): Promise<string> {
  const answer = await account.call(`/files/${id}/a.wav`, { redirect: "manual" })
  return answer.headers.get("location") ?? ""
}
