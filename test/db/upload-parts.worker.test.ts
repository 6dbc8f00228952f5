import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { listUploadParts, saveUploadPart } from "../../src/db/files/upload-parts.ts"
import { deleteUploadRow, insertUpload } from "../../src/db/files/uploads.ts"

const database = openAccountDatabases(env, newId())

async function open(): Promise<string> {
  const id = newId()
  const begun = { multipartId: "multipart", taskId: newId(), validator: "v", createdAt: Date.now() }
  await insertUpload(database, { id, objectKey: `object-of-${id}`, ...begun })
  return id
}

function part(number: number, etag = "etag") {
  return { number, etag, sizeBytes: 5 }
}

async function countRows(uploadId: string): Promise<number | null> {
  const query = env.DB.prepare("select count(*) as count from upload_parts where upload_id = ?")
  return await query.bind(uploadId).first<number>("count")
}

describe("the parts of an upload", () => {
  it("are listed in order", async () => {
    const id = await open()
    for (const number of [2, 10, 1]) await saveUploadPart(database, id, part(number))
    expect(await listUploadParts(database, id)).toEqual([part(1), part(2), part(10)])
  })

  it("have the etag that was noted last if they were stored twice at once", async () => {
    const id = await open()
    await saveUploadPart(database, id, part(1, "one"))
    await saveUploadPart(database, id, { ...part(1, "other"), sizeBytes: 6 })
    expect(await listUploadParts(database, id)).toEqual([{ ...part(1, "other"), sizeBytes: 6 }])
  })

  it("are removed with it, and cannot be added afterwards", async () => {
    const id = await open()
    await saveUploadPart(database, id, part(1))
    await deleteUploadRow(database, id)
    await saveUploadPart(database, id, part(2))
    expect(await countRows(id)).toBe(0)
  })

  it("belong to one account", async () => {
    const id = await open()
    await saveUploadPart(database, id, part(1))
    const other = openAccountDatabases(env, newId())
    await saveUploadPart(other, id, part(1, "another's"))
    await saveUploadPart(other, id, part(2))
    await deleteUploadRow(other, id)
    expect(await listUploadParts(other, id)).toEqual([])
    expect(await listUploadParts(database, id)).toEqual([part(1)])
  })
})
