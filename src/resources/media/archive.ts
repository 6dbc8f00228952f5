import { create as contentDisposition } from "content-disposition"
import { archiveNameOf, bundleKindOf } from "../../contract/bundle.ts"
import type { Member } from "../../contract/bundle.ts"
import type { AppContext } from "../../http/request.ts"
import { notFound } from "../../http/problem.ts"
import { logError } from "../../log.ts"
import { memberObjectKey } from "../../storage/objects.ts"
import type { File } from "../../storage/schema/files.ts"
import { layoutZip } from "./zip.ts"
import type { ZipLayout } from "./zip.ts"

/** Objects that are opened before their turn, so that small ones do not wait for each other. */
const OPEN_AT_ONCE = 4

type Archived = Pick<File, "name" | "objectKey" | "bundle" | "completedAt">

/** Sends a series as a ZIP, made as it is sent; `headers` are those of every download. */
export async function sendArchive(
  c: AppContext,
  { name, objectKey, bundle, completedAt }: Archived,
  headers: Headers,
): Promise<Response> {
  const members = bundle?.members ?? []
  if (objectKey === null) throw notFound("file")
  const zip = layoutZip(
    members.map((member) => ({
      name: member.name,
      sizeBytes: member.size_bytes,
      crc: member.crc32,
    })),
    new Date(completedAt ?? 0),
  )
  headers.set("content-disposition", contentDisposition(nameOfArchive(name)))
  headers.set("content-type", "application/zip")
  headers.set("content-length", String(zip.sizeBytes))
  if (c.req.method === "HEAD") return new Response(null, { headers })
  const objects = openObjects(c.env.MEDIA, objectKey, members)
  const first = await objects.next()
  if (!first.value) throw notFound("file")
  const { readable, writable } = new FixedLengthStream(zip.sizeBytes)
  const sent = send(zip, first.value, objects, writable)
  // The caller hung up, or gets fewer bytes than were announced, and so knows.
  c.executionCtx.waitUntil(sent.catch((error: unknown) => writable.abort(error).catch(() => null)))
  return new Response(readable, { headers })
}

/** The name of a series that is stored; one that was stored under its pattern still has that. */
function nameOfArchive(name: string): string {
  return bundleKindOf(name) === "series" ? archiveNameOf(name) : name
}

/** The objects of members, in their order; null ends them where one is gone. */
async function* openObjects(
  bucket: R2Bucket,
  objectKey: string,
  members: readonly Member[],
): AsyncGenerator<R2ObjectBody | null, null> {
  const opened: Promise<R2ObjectBody | null>[] = []
  for (const [index] of members.entries()) {
    for (const { name } of members.slice(index + opened.length, index + OPEN_AT_ONCE)) {
      const object = bucket.get(memberObjectKey(objectKey, name))
      // It is awaited at its turn, if that comes.
      object.catch(() => undefined)
      opened.push(object)
    }
    yield (await opened.shift()) ?? null
  }
  return null
}

/** Bytes of members go from R2 to the caller without a step in between. */
async function send(
  { headers, directory, sizeBytes }: ZipLayout,
  first: R2ObjectBody,
  rest: AsyncGenerator<R2ObjectBody | null, null>,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  let object: R2ObjectBody | null = first
  for (const header of headers) {
    if (!object) {
      logError("archive.member_gone", { sizeBytes })
      throw new Error("a member is gone")
    }
    await write(writable, header)
    await object.body.pipeTo(writable, { preventClose: true })
    object = (await rest.next()).value
  }
  await write(writable, directory)
  await writable.close()
}

async function write(writable: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter()
  await writer.write(bytes)
  writer.releaseLock()
}
