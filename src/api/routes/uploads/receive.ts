import { createFileOfUpload } from "./create-upload-file.ts"
import { claimTusUpload, findTusUpload } from "../../../db/files/tus-uploads.ts"
import type { TusUploadWithObjectRow } from "../../../db/files/tus-uploads.ts"
import {
  TUS_UPLOAD_IDLE_MS_MAX,
  TusDiskFullError,
  TusWriter,
  TusWriterReplacedError,
} from "../../../objects/tus-writer.ts"
import { removeTusUpload } from "../../../objects/tus-object.ts"
import { createDigest } from "../../../platform/crypto/digest.ts"
import type { Digest } from "../../../platform/crypto/digest.ts"
import { toHex } from "../../../platform/crypto/hex.ts"
import type { AppContext } from "../../context.ts"
import { createBodyReader } from "../../input/body.ts"
import type { BodyReader } from "../../input/body.ts"
import { withUploadLease } from "../../input/upload-lease.ts"
import { notFoundProblem, Problem, storageFullProblem } from "../../output/problem.ts"
import { requireTypeAllowedByLink } from "./file-types.ts"
import type { UploadChecksum } from "./tus-headers.ts"

/**
 * State of an upload after a request: the number of stored bytes, the expiry, and whether the
 * upload has become a File.
 */
export type UploadStateAfterRequest = { offsetBytes: number; expiresAt: number; isFile: boolean }

/** Error codes after which the bytes of an upload can never become a File. */
const FINAL_CODES = new Set(["media_type_not_allowed", "link_used"])

/** Removes an unfinished upload and its bytes, because no client will continue the upload. */
export async function removeUnfinishedUpload(c: AppContext, id: string): Promise<void> {
  const found = await findTusUpload(c.get("database"), id)
  if (found) await removeTusUpload(c.env, found.row, { now: Date.now(), isForced: false })
}

/**
 * Stores the body of a request in a tus upload of which exactly `offsetBytes` bytes are stored.
 * Creates the File once all bytes are stored. If the body ends early, keeps the received bytes. A
 * request with a checksum keeps none of its bytes in this case.
 */
export async function receiveUploadBody(
  c: AppContext,
  id: string,
  options: { offsetBytes: number; checksum: UploadChecksum | null },
): Promise<UploadStateAfterRequest> {
  const received = withUploadLease(c, async () => {
    try {
      return await receive(c, id, options)
    } catch (error) {
      if (error instanceof Problem && FINAL_CODES.has(error.code))
        await removeUnfinishedUpload(c, id)
      throw error
    }
  })
  // The received bytes are stored even if the client disconnects.
  c.executionCtx.waitUntil(received.catch(() => undefined))
  return await received
}

async function receive(
  c: AppContext,
  id: string,
  { offsetBytes, checksum }: { offsetBytes: number; checksum: UploadChecksum | null },
): Promise<UploadStateAfterRequest> {
  const database = c.get("database")
  const now = Date.now()
  const expiresAt = now + TUS_UPLOAD_IDLE_MS_MAX
  const writerId = c.get("requestId")
  const claim = { writer: writerId, offsetBytes, now, expiresAt }
  const open = await claimTusUpload(database, id, claim)
  if (!open) return await explainUnclaimed(c, id, offsetBytes)
  const { sizeBytes } = open.row
  const remainingBytes = sizeBytes - offsetBytes
  const announced = c.req.header("content-length")
  const bytesMax = announced === undefined ? remainingBytes : Number(announced)
  if (bytesMax > remainingBytes) throw tooLong(sizeBytes)
  const body = createBodyReader(c, {
    bytesMax: remainingBytes,
    leastBytes: LEAST_BYTES,
    tooLarge: () => tooLong(sizeBytes),
  })
  const writer = await orReplaced(() => {
    return TusWriter.open(c.env, open, writerId, {
      bytesMax,
      isHeld: checksum !== null,
      onStart: async (bytes) => await requireTypeAllowedByLink(c, bytes),
    })
  })
  const isWhole = offsetBytes === 0 && bytesMax === sizeBytes
  const sha256 = isWhole ? createDigest("SHA-256") : null
  const announcedDigest = checksum ? createDigest(checksum.algorithm) : null
  const digests = [sha256, announcedDigest].filter((digest) => digest !== null)
  await orReplaced(async () => {
    try {
      if (body) await pump(body, writer, digests)
    } catch (error) {
      await keepReceived(writer, { error, isHeld: checksum !== null })
      throw error
    }
  })
  const digest = await announcedDigest?.finish()
  if (checksum && digest && toHex(digest) !== toHex(checksum.digest)) {
    await writer.drop()
    throw new Problem("checksum_mismatch", MISMATCH, {
      headers: { "upload-offset": String(offsetBytes) },
    })
  }
  if (writer.offsetBytes < sizeBytes) {
    await orReplaced(() => writer.suspend())
    return { offsetBytes: writer.offsetBytes, expiresAt, isFile: false }
  }
  await orReplaced(() => writer.finish())
  await createFileOfUpload(c, id, await sha256?.finish())
  return { offsetBytes: sizeBytes, expiresAt, isFile: true }
}

const MISMATCH =
  "The bytes of the request do not have the checksum of `Upload-Checksum`, and were dropped; send them again."

const READ_BYTES = 256 * 1024
/**
 * Minimum number of bytes per read of the body. If the connection breaks during a read, the bytes
 * of that read (fewer than this number) are lost.
 */
const LEAST_BYTES = 16 * 1024

/** Passes the bytes of a request body to the upload's writer and to hash digests. */
async function pump(body: BodyReader, writer: TusWriter, digests: Digest[]): Promise<void> {
  let room = new Uint8Array(READ_BYTES)
  for (;;) {
    const bytes = await body.read(room)
    if (!bytes) return
    for (const digest of digests) await digest.write(bytes)
    await writer.add(bytes)
    room = new Uint8Array(bytes.buffer)
  }
}

/**
 * Stores the bytes that a request body delivered before an error. Drops the bytes if the upload is
 * refused, if another request continues it, or if a checksum was announced.
 */
async function keepReceived(
  writer: TusWriter,
  { error, isHeld }: { error: unknown; isHeld: boolean },
): Promise<void> {
  const isRefused = error instanceof Problem && error.code === "media_type_not_allowed"
  if (isHeld || isRefused || error instanceof TusWriterReplacedError) return await writer.drop()
  // Ignore a failed write: the client then continues at the stored offset, and sends these bytes
  // again.
  await writer.suspend().catch(() => undefined)
}

/**
 * Runs `act`, which writes to an upload, and converts errors of the upload's writer to error
 * responses.
 */
async function orReplaced<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof TusDiskFullError) throw storageFullProblem(error)
    if (!(error instanceof TusWriterReplacedError)) throw error
    const message =
      "Another request continued the upload, or deleted it; ask for its offset by HEAD, and continue there if it is still yours."
    throw new Problem("upload_taken_over", message, { cause: error })
  }
}

/**
 * Handles a request whose offset does not continue the upload. Returns the state of an upload that
 * already has all its bytes, and creates a missing File. Otherwise throws an error, such as 409
 * with the correct offset.
 */
async function explainUnclaimed(
  c: AppContext,
  id: string,
  offsetBytes: number,
): Promise<UploadStateAfterRequest> {
  const found = await findTusUpload(c.get("database"), id)
  if (!found) throw notFoundProblem("upload")
  const { row } = found
  if (row.offsetBytes === offsetBytes && offsetBytes === row.sizeBytes) {
    if (Number(c.req.header("content-length") ?? 0) > 0) throw tooLong(row.sizeBytes)
    await createMissingUploadFile(c, found)
    return { offsetBytes, expiresAt: row.expiresAt, isFile: true }
  }
  const message = `The upload has ${row.offsetBytes} of ${row.sizeBytes} bytes; continue there, with \`Upload-Offset: ${row.offsetBytes}\`.`
  throw new Problem("offset_conflict", message, {
    headers: { "upload-offset": String(row.offsetBytes) },
  })
}

/**
 * Creates the File of an upload whose bytes are all stored, in case an earlier request ended before
 * the File existed.
 */
export async function createMissingUploadFile(
  c: AppContext,
  { row, upload }: TusUploadWithObjectRow,
): Promise<void> {
  // If no row in `uploads` is left, the stored object already belongs to the File of the upload. An
  // incomplete upload cannot become a File yet.
  if (!upload || row.offsetBytes < row.sizeBytes) return
  await createFileOfUpload(c, row.id)
}

function tooLong(sizeBytes: number): Problem {
  const message = `The bytes go beyond the end of the upload, which has ${sizeBytes} bytes by its Upload-Length.`
  return new Problem("payload_too_large", message)
}
