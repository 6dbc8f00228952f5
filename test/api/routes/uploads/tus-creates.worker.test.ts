import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { fetchWorker, makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { readProblem } from "../../../support/problem.ts"
import {
  createTestTusUpload,
  readLocationPath,
  makeTusMetadata,
  makeTusSender,
} from "../../../support/tus.ts"
import type { SendTus } from "../../../support/tus.ts"

let caller: TestCaller
let accountId: string
let send: SendTus

beforeEach(async () => {
  caller = await makeCaller(`tus creates ${crypto.randomUUID()}`)
  accountId = await findCallerAccountId(caller)
  send = makeTusSender(caller)
})

describe("a create", () => {
  it.each<[string, Record<string, string>, number, string]>([
    ["without a size", {}, 400, "Upload-Length"],
    ["with a size that is no number", { "upload-length": "1e3" }, 400, "Upload-Length"],
    ["of an empty file", { "upload-length": "0" }, 400, "Upload-Length"],
    ["with a deferred size", { "upload-defer-length": "1" }, 400, "Upload-Defer-Length"],
    [
      "of a part of a file",
      { "upload-length": "5", "upload-concat": "partial" },
      400,
      "Upload-Concat",
    ],
    [
      "with metadata that is no Base64",
      { "upload-length": "5", "upload-metadata": "filename ÿ" },
      400,
      "Upload-Metadata",
    ],
    [
      "with a name twice",
      { "upload-length": "5", "upload-metadata": "a YQ==,a YQ==" },
      400,
      "Upload-Metadata",
    ],
    [
      "with a wrong field",
      { "upload-length": "5", "upload-metadata": makeTusMetadata({ expires_in: "soon" }) },
      422,
      "Upload-Metadata.expires_in",
    ],
  ])("%s names the header", async (_, headers, status, field) => {
    const answer = await send("POST", "/uploads", headers)
    expect(await readProblem(answer)).toMatchObject({ status, details: [{ field }] })
    expect(answer.headers.get("tus-resumable")).toBe("1.0.0")
  })

  it("without a version of tus is a 400", async () => {
    const answer = await caller.call("/uploads", {
      method: "POST",
      headers: { "upload-length": "5" },
    })
    expect(await readProblem(answer)).toMatchObject({
      status: 400,
      details: [{ field: "Tus-Resumable" }],
    })
  })

  it("of another version of tus is a 412 with the version of the service", async () => {
    const answer = await send("POST", "/uploads", {
      "upload-length": "5",
      "tus-resumable": "0.2.2",
    })
    expect(answer.status).toBe(412)
    expect(answer.headers.get("tus-version")).toBe("1.0.0")
  })

  it("beyond the storage of the account, with its other open uploads, is a 403", async () => {
    const { storage_bytes } = await limitsOf()
    await createTestTusUpload(send, 1000)
    const file = await limitsOf()
    expect(file.storage_bytes).toBe(storage_bytes)
    await env.DB.prepare("update tus_uploads set size_bytes = ? where account_id = ?")
      .bind(storage_bytes - 10, accountId)
      .run()
    expect((await send("POST", "/uploads", { "upload-length": "11" })).status).toBe(403)
    expect((await send("POST", "/uploads", { "upload-length": "10" })).status).toBe(201)
  })

  it("of a file that the plan does not allow is a 413", async () => {
    const { file_bytes } = await limitsOf()
    const answer = await send("POST", "/uploads", { "upload-length": String(file_bytes + 1) })
    expect(await readProblem(answer)).toMatchObject({ status: 413 })
  })
})

async function limitsOf(): Promise<{ storage_bytes: number; file_bytes: number }> {
  const account = await (await caller.call("/account")).json<{ limits: Record<string, number> }>()
  const { storage_bytes = 0, file_bytes = 0 } = account.limits
  return { storage_bytes, file_bytes }
}

it("OPTIONS describes the server without a key", async () => {
  const answer = await fetchWorker("/v1/uploads", { method: "OPTIONS" })
  expect(answer.status).toBe(204)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "tus-version": "1.0.0",
    "tus-extension": "creation,creation-with-upload,expiration,termination,checksum",
    "tus-checksum-algorithm": "md5,sha1,sha256,sha512",
  })
})

it("a Location is below the base URL", async () => {
  const answer = await send("POST", "/uploads", { "upload-length": "5" })
  expect(answer.headers.get("location")).toMatch(
    /^https:\/\/lathe\.test\/v1\/uploads\/[0-9a-f-]{36}$/,
  )
  expect(readLocationPath(answer)).toMatch(/^\/uploads\//)
})
