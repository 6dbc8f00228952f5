import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { openAccountDatabases } from "../../../../src/db/database.ts"
import { findTusUpload } from "../../../../src/db/files/tus-uploads.ts"
import { removeTusUpload } from "../../../../src/objects/tus-object.ts"
import { makeLimitedCaller } from "../../../support/accounts/limited-caller.ts"
import { makeCaller } from "../../../support/caller.ts"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { readProblem } from "../../../support/problem.ts"
import { createTestTusUpload, patchTusUpload, makeTusSender } from "../../../support/tus.ts"

const MIB = 1024 ** 2

describe("an unfinished upload", () => {
  it("reserves storage, which a form cannot take meanwhile", async () => {
    const limited = await makeLimitedCaller(`reserving ${crypto.randomUUID()}`, {
      storageBytesMax: 1000,
    })
    const sendLimited = makeTusSender(limited)
    const path = await createTestTusUpload(sendLimited, 600)
    async function sendForm(bytes: number): Promise<Response> {
      const body = new FormData()
      body.append("file", new File([new Uint8Array(bytes)], "a.bin"))
      return await limited.call("/files", { method: "POST", body })
    }
    const refused = await readProblem(await sendForm(401))
    expect(refused).toMatchObject({ status: 403, code_name: "storage_limit_exceeded" })
    expect(refused.detail).toContain("stores 600 bytes with its unfinished uploads")
    expect((await sendForm(400)).status).toBe(201)
    const bytes = new Uint8Array(600)
    expect((await patchTusUpload(sendLimited, path, { offset: 0, bytes })).status).toBe(204)
    expect((await limited.call(path.replace("uploads", "files"))).status).toBe(200)
  })

  it("loses the parts at its removal, even if they began after its row was read", async () => {
    const caller = await makeCaller(`parts ${crypto.randomUUID()}`)
    const accountId = await findCallerAccountId(caller)
    const send = makeTusSender(caller)
    const path = await createTestTusUpload(send, 12 * MIB)
    const id = path.split("/").at(-1) ?? ""
    const before = await findTusUpload(openAccountDatabases(env, accountId), id)
    await patchTusUpload(send, path, { offset: 0, bytes: new Uint8Array(6 * MIB) })
    const after = await findTusUpload(openAccountDatabases(env, accountId), id)
    if (!before?.upload || !after?.upload?.multipartId) throw new Error("the upload has no parts")
    expect(before.upload.multipartId).toBeNull()
    expect(await removeTusUpload(env, before.row, { now: Date.now(), isForced: false })).toBe(true)
    const parts = env.MEDIA.resumeMultipartUpload(after.upload.objectKey, after.upload.multipartId)
    await expect(parts.uploadPart(2, new Uint8Array(10))).rejects.toThrow(/does not exist/)
  })
})

it("a POST is a HEAD, PATCH or DELETE if X-HTTP-Method-Override says so", async () => {
  const send = makeTusSender(await makeCaller(`methods ${crypto.randomUUID()}`))
  const path = await createTestTusUpload(send, 10)
  const patched = await send(
    "POST",
    path,
    {
      "x-http-method-override": "PATCH",
      "content-type": "application/offset+octet-stream",
      "upload-offset": "0",
    },
    new Uint8Array(4),
  )
  expect([patched.status, patched.headers.get("upload-offset")]).toEqual([204, "4"])
  const head = await send("POST", path, { "x-http-method-override": "HEAD" })
  expect([head.status, head.headers.get("upload-offset")]).toEqual([200, "4"])
  for (const method of ["PUT", "GET", "no method"]) {
    expect((await send("POST", path, { "x-http-method-override": method })).status).toBe(405)
  }
  expect((await send("POST", path, { "x-http-method-override": "DELETE" })).status).toBe(204)
  expect((await send("HEAD", path)).status).toBe(404)
})
