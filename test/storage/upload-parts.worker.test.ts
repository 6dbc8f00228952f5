import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { newId } from "../../src/ids.ts"
import { databaseOf } from "../../src/storage/database.ts"
import { listParts, notePart } from "../../src/storage/upload-parts.ts"
import { closeUpload, openUpload } from "../../src/storage/uploads.ts"

const database = databaseOf(env, newId())

async function open(): Promise<string> {
  const id = newId()
  const begun = { multipartId: "multipart", taskId: newId(), validator: "v", createdAt: Date.now() }
  await openUpload(database, { id, objectKey: `object-of-${id}`, ...begun })
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
  it("are listed in their order", async () => {
    const id = await open()
    for (const number of [2, 10, 1]) await notePart(database, id, part(number))
    expect(await listParts(database, id)).toEqual([part(1), part(2), part(10)])
  })

  it("have the etag that was noted last where they were stored twice at once", async () => {
    const id = await open()
    await notePart(database, id, part(1, "one"))
    await notePart(database, id, { ...part(1, "other"), sizeBytes: 6 })
    expect(await listParts(database, id)).toEqual([{ ...part(1, "other"), sizeBytes: 6 }])
  })

  it("go with it, and come no more", async () => {
    const id = await open()
    await notePart(database, id, part(1))
    await closeUpload(database, id)
    await notePart(database, id, part(2))
    expect(await countRows(id)).toBe(0)
  })

  it("are those of one account", async () => {
    const id = await open()
    await notePart(database, id, part(1))
    const other = databaseOf(env, newId())
    await notePart(other, id, part(1, "another's"))
    await notePart(other, id, part(2))
    await closeUpload(other, id)
    expect(await listParts(other, id)).toEqual([])
    expect(await listParts(database, id)).toEqual([part(1)])
  })
})
