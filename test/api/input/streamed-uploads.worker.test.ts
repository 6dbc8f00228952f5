import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { app } from "../../../src/app.ts"
import { toHex } from "../../../src/platform/crypto/hex.ts"
import { fetchWorker, makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { countAccountData, NO_ACCOUNT_DATA } from "../../support/left-over.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { readProblem } from "../../support/problem.ts"

const MIB = 1024 ** 2
const BOUNDARY = "the-boundary"

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`streamed ${crypto.randomUUID()}`)
  accountId = await findCallerAccountId(caller)
})

function makeBytes(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += 65_536) {
    crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  }
  return bytes
}

/** Returns a form with a file, followed by a field and by bytes behind the form. */
function makeForm(file: Uint8Array<ArrayBuffer>, behind = 0): Blob {
  const disposition = `--${BOUNDARY}\r\ncontent-disposition: form-data; name=`
  return new Blob([
    `${disposition}"file"; filename="film.bin"\r\n\r\n`,
    file,
    `\r\n${disposition}"expires_in"\r\n\r\n3600\r\n--${BOUNDARY}--\r\n`,
    new Uint8Array(behind),
  ])
}

/** Sends a form of an announced length to a service whose R2 notes how each part comes. */
async function send(
  form: Blob,
  { announced = form.size, refuses = false }: { announced?: number; refuses?: boolean } = {},
) {
  const parts: string[] = []
  const MEDIA = new Proxy(env.MEDIA, {
    get(bucket, name) {
      const method: unknown = Reflect.get(bucket, name)
      if (typeof method !== "function") return method
      if (name !== "createMultipartUpload") {
        return (...given: unknown[]): unknown => Reflect.apply(method, bucket, given)
      }
      return async (...given: unknown[]): Promise<unknown> => {
        const upload = await env.MEDIA.createMultipartUpload(String(given[0]))
        return {
          uploadId: upload.uploadId,
          complete: async (all: R2UploadedPart[]) => await upload.complete(all),
          abort: async () => await upload.abort(),
          async uploadPart(number: number, body: ReadableStream | Uint8Array) {
            parts.push(body instanceof ReadableStream ? "stream" : "buffer")
            if (refuses) throw new Error("R2 refuses the part")
            return await upload.uploadPart(number, body)
          },
        }
      }
    },
  })
  const headers = {
    "x-api-key": caller.key,
    "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
    "content-length": String(announced),
  }
  const request = new Request("https://lathe.test/v1/files", {
    method: "POST",
    headers,
    body: form.stream(),
  })
  const context = createExecutionContext()
  const answer = await app.fetch(request, { ...env, MEDIA }, context)
  const text = await answer.text()
  await waitOnExecutionContext(context)
  return { answer: new Response(text, answer), parts }
}

describe("a file in a body of known length", () => {
  it("goes to R2 in parts that are streamed, but for those that may be the last", async () => {
    const bytes = makeBytes(15 * MIB + 123)
    const { answer, parts } = await send(makeForm(bytes))
    expect(answer.status).toBe(201)
    expect(parts).toEqual(["stream", "stream", "buffer", "buffer"])
    const file = await answer.json<{ id: string; sha256: string; size_bytes: number }>()
    const sha256 = toHex(await crypto.subtle.digest("SHA-256", bytes))
    expect(file).toMatchObject({ sha256, size_bytes: bytes.length, name: "film.bin" })
    const redirect = await caller.call(`/files/${file.id}/film.bin`)
    const media = await fetchWorker(redirect.headers.get("location") ?? "")
    expect(toHex(await crypto.subtle.digest("SHA-256", await media.arrayBuffer()))).toBe(sha256)
    expect(await countAccountData(accountId)).toMatchObject({ uploads: 0, objects: 1 })
  })

  it("gets a 422 if more follows the form than fields could fill, and leaves nothing", async () => {
    const { answer } = await send(makeForm(makeBytes(6 * MIB), 9 * MIB))
    expect((await readProblem(answer)).detail).toContain("too many bytes follow the file")
    expect(answer.status).toBe(422)
    expect(await countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
  })

  it("gets a 422 if the body ends within a part, and leaves nothing", async () => {
    const cut = makeForm(makeBytes(12 * MIB)).slice(0, 8 * MIB)
    const { answer, parts } = await send(cut, { announced: 20 * MIB })
    expect([answer.status, parts]).toEqual([422, ["stream", "stream"]])
    expect(await countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
  })

  it("gets a 500 if R2 refuses a part, and leaves nothing", async () => {
    const { answer } = await send(makeForm(makeBytes(12 * MIB)), { refuses: true })
    expect(answer.status).toBe(500)
    expect(await countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
  })
})
