import type { Env } from "../bindings/env.ts"
import { makeDiskSpaceReserver } from "../bindings/storage-disk.ts"
import { openAccountDatabases } from "../db/database.ts"
import type { AccountDatabase } from "../db/database.ts"
import {
  claimTusPartNumber,
  recordTusUploadHasPartialParts,
  saveTusMultipartId,
  saveTusProgress,
} from "../db/files/tus-uploads.ts"
import type { OpenTusUpload } from "../db/files/tus-uploads.ts"
import type { UploadPart } from "../db/files/upload-parts.ts"
import { makeTusTailKeyPrefix } from "../domain/object-keys.ts"
import { runOrLogError } from "../platform/log.ts"
import { isMissingUploadError } from "./objects.ts"
import { R2_PART_BYTES_MIN, R2_PARTS_MAX } from "./part-writer.ts"

/** Time after its last bytes until an unfinished tus upload is removed, in milliseconds. */
export const TUS_UPLOAD_IDLE_MS_MAX = 24 * 3_600_000

/**
 * Number of R2 part numbers that are reserved for interrupted requests, which may claim a number
 * without storing a part.
 */
const SPARE_PARTS = 500

/**
 * Error of a request that may no longer write to its upload, because another request has continued
 * the upload or the upload was removed.
 */
export class TusWriterReplacedError extends Error {
  override readonly name = "TusWriterReplacedError"
}

/** Error of a write for which the disk of the service has no room. */
export class TusDiskFullError extends Error {
  override readonly name = "TusDiskFullError"
}

/** Returns the part size for an upload of `sizeBytes`. R2 accepts at most 10,000 parts. */
export function computeTusPartBytes(sizeBytes: number): number {
  return Math.max(R2_PART_BYTES_MIN, Math.ceil(sizeBytes / (R2_PARTS_MAX - SPARE_PARTS)))
}

export type TusWriterOptions = {
  /** Maximum number of bytes that the request sends. */
  bytesMax: number
  /**
   * Whether the bytes count as received only after `suspend` or `finish`, because a checksum must
   * be verified first.
   */
  isHeld: boolean
  /**
   * Checks the first bytes of the file before any byte is stored. Throws an error to refuse the
   * file.
   */
  onStart?: (bytes: Uint8Array) => Promise<void>
}

/**
 * Writer of the bytes that one request sends to a tus upload. The writer stores whole parts in a
 * multipart upload of R2, even for a small file, so that a late write of a replaced request cannot
 * change the object. At the end of the request, the writer stores the bytes after the last whole
 * part as a separate object, the tail. Two parts are in memory: the part that is being filled, and
 * the part that is being sent. After each part, the new offset is stored in D1, so that a killed
 * process loses less than two parts.
 */
export class TusWriter {
  readonly #env: Env
  readonly #database: AccountDatabase
  readonly #open: OpenTusUpload
  readonly #writer: string
  readonly #options: TusWriterOptions
  #buffer: Uint8Array
  #filledBytes = 0
  /** Number of bytes of the upload in parts that were sent or are being sent. */
  #partedBytes: number
  #inFlight: Promise<void> = Promise.resolve()
  /** Buffer of a sent part, which a later part reuses. */
  #spare: Uint8Array | null = null
  #multipart: R2MultipartUpload | null = null
  /**
   * R2 part number that this request has reserved in D1 for its next part; null without a
   * reservation.
   */
  #nextNumber: number | null = null
  /** Highest R2 part number that a part uses, or that an earlier request reserved. */
  #lastNumber: number
  #savedBytes: number
  /** Parts stored in R2 that count as received only after the request's checksum is verified. */
  #held: UploadPart[] = []
  #tailKey: string | null
  #hasTails: boolean
  #hasStarted: boolean

  private constructor(env: Env, open: OpenTusUpload, writer: string, options: TusWriterOptions) {
    const { row, upload } = open
    this.#env = env
    this.#database = openAccountDatabases(env, row.accountId)
    this.#open = open
    this.#writer = writer
    this.#options = options
    this.#partedBytes = row.offsetBytes - row.tailBytes
    this.#lastNumber = row.partsClaimed
    this.#savedBytes = row.offsetBytes
    this.#tailKey = row.tailKey
    this.#hasTails = row.hasTails
    this.#hasStarted = this.#partedBytes > 0
    if (upload.multipartId !== null) {
      this.#multipart = env.MEDIA.resumeMultipartUpload(upload.objectKey, upload.multipartId)
    }
    this.#buffer = new Uint8Array(Math.min(row.partBytes, row.tailBytes + options.bytesMax))
  }

  /**
   * Opens the writer of an upload of which the request has become the only writer. Reads the bytes
   * after the upload's last whole part (the tail) from R2.
   */
  static async open(
    env: Env,
    open: OpenTusUpload,
    writer: string,
    options: TusWriterOptions,
  ): Promise<TusWriter> {
    const opened = new TusWriter(env, open, writer, options)
    await opened.#readTail()
    return opened
  }

  async #readTail(): Promise<void> {
    if (this.#tailKey === null) return
    const { tailBytes } = this.#open.row
    const tail = await this.#env.MEDIA.get(this.#tailKey)
    const bytes = tail && new Uint8Array(await tail.arrayBuffer())
    // A missing tail, or a tail of another size, means that a later writer has replaced the tail.
    if (bytes?.byteLength !== tailBytes) throw new TusWriterReplacedError()
    this.#buffer.set(bytes)
    this.#filledBytes = tailBytes
  }

  /** Number of received bytes of the upload, including those of this request. */
  get offsetBytes(): number {
    return this.#partedBytes + this.#filledBytes
  }

  /** Adds bytes to the upload. If a part is full, waits until the previous part was sent. */
  async add(bytes: Uint8Array): Promise<void> {
    const { partBytes } = this.#open.row
    let rest = bytes
    while (rest.byteLength > 0) {
      const taken = rest.subarray(0, this.#buffer.byteLength - this.#filledBytes)
      if (taken.byteLength === 0) throw new Error("the request brings more bytes than announced")
      this.#buffer.set(taken, this.#filledBytes)
      this.#filledBytes += taken.byteLength
      rest = rest.subarray(taken.byteLength)
      if (this.#filledBytes < partBytes) continue
      await this.#flush()
      this.#buffer = this.#spare ?? new Uint8Array(Math.min(partBytes, this.#remainingBytes()))
      this.#spare = null
    }
  }

  /**
   * Stores the bytes after the last whole part as a separate object (the tail), then the progress
   * in D1.
   */
  async suspend(): Promise<void> {
    await this.#inFlight
    if (this.offsetBytes === this.#savedBytes && this.#nextNumber === null) return
    // Release the reserved part number, which no part uses, so that a later request may use the
    // number.
    this.#nextNumber = null
    const tail = await this.#storeTail()
    await this.#save(this.#held, { offsetBytes: this.offsetBytes, tail })
  }

  /**
   * Stores the last bytes of the upload. Afterwards R2 only has to complete the object from its
   * parts.
   */
  async finish(): Promise<void> {
    if (this.#filledBytes > 0) await this.#flush()
    await this.#inFlight
    await this.#save(this.#held, { offsetBytes: this.offsetBytes, tail: null })
  }

  /** Waits until no write to R2 is in progress. Drops bytes that do not yet count as received. */
  async drop(): Promise<void> {
    await this.#inFlight.catch(() => undefined)
  }

  /** Returns the number of bytes that the request may still send. */
  #remainingBytes(): number {
    return this.#open.row.offsetBytes + this.#options.bytesMax - this.offsetBytes
  }

  /** Passes the first bytes of the file to `onStart`, once. */
  async #start(): Promise<void> {
    if (this.#hasStarted) return
    this.#hasStarted = true
    await this.#options.onStart?.(this.#buffer.subarray(0, this.#filledBytes))
  }

  async #flush(): Promise<void> {
    await this.#start()
    await this.#inFlight
    const bytes = this.#buffer.subarray(0, this.#filledBytes)
    const number = await this.#claimNumber()
    const multipart = (this.#multipart ??= await this.#createMultipart())
    const space = await makeDiskSpaceReserver(this.#env)(bytes.byteLength)
    if (!space) throw new TusDiskFullError()
    this.#partedBytes += bytes.byteLength
    this.#filledBytes = 0
    const sending = this.#send(multipart, number, bytes, this.#partedBytes)
    this.#inFlight = sending.finally(() => space.release())
    // Prevents an unhandled rejection; the next `await` of the promise still throws the error.
    this.#inFlight.catch(() => undefined)
  }

  async #send(
    multipart: R2MultipartUpload,
    number: number,
    bytes: Uint8Array,
    offsetBytes: number,
  ): Promise<void> {
    const { etag } = await multipart.uploadPart(number, bytes).catch((error: unknown) => {
      throw isMissingUploadError(error) ? new TusWriterReplacedError() : error
    })
    const part = { number, etag, sizeBytes: bytes.byteLength }
    if (bytes.byteLength === this.#open.row.partBytes) this.#spare = bytes
    if (this.#options.isHeld) {
      this.#held.push(part)
      return
    }
    // The D1 statement that saves this part also reserves the next part number, if another part
    // follows.
    this.#nextNumber = this.#remainingBytes() > 0 ? number + 1 : null
    await this.#save([part], { offsetBytes, tail: null })
  }

  async #claimNumber(): Promise<number> {
    const { id } = this.#open.row
    const number = this.#nextNumber ?? (await claimTusPartNumber(this.#database, id, this.#writer))
    if (number === null) throw new TusWriterReplacedError()
    this.#nextNumber = null
    this.#lastNumber = number
    return number
  }

  async #createMultipart(): Promise<R2MultipartUpload> {
    const { row, upload } = this.#open
    const multipart = await this.#env.MEDIA.createMultipartUpload(upload.objectKey, {
      httpMetadata: { contentType: row.contentType },
    })
    const { id } = row
    if (await saveTusMultipartId(this.#database, id, this.#writer, multipart.uploadId)) {
      return multipart
    }
    await multipart.abort().catch(() => undefined)
    throw new TusWriterReplacedError()
  }

  async #storeTail(): Promise<{ key: string; bytes: number } | null> {
    const bytes = this.#buffer.subarray(0, this.#filledBytes)
    if (bytes.byteLength === 0) return null
    const { accountId, id } = this.#open.row
    if (
      !this.#hasTails &&
      !(await recordTusUploadHasPartialParts(this.#database, id, this.#writer))
    ) {
      throw new TusWriterReplacedError()
    }
    this.#hasTails = true
    const space = await makeDiskSpaceReserver(this.#env)(bytes.byteLength)
    if (!space) throw new TusDiskFullError()
    const key = `${makeTusTailKeyPrefix(accountId, id)}${this.#writer}`
    await this.#env.MEDIA.put(key, bytes).finally(() => space.release())
    return { key, bytes: bytes.byteLength }
  }

  async #save(
    parts: UploadPart[],
    { offsetBytes, tail }: { offsetBytes: number; tail: { key: string; bytes: number } | null },
  ): Promise<void> {
    const now = Date.now()
    const isSaved = await saveTusProgress(this.#database, this.#open.row.id, this.#writer, {
      parts,
      offsetBytes,
      partsClaimed: this.#nextNumber ?? this.#lastNumber,
      tail,
      now,
      expiresAt: now + TUS_UPLOAD_IDLE_MS_MAX,
    })
    const unused = isSaved ? this.#tailKey : (tail?.key ?? null)
    if (isSaved) {
      this.#savedBytes = offsetBytes
      this.#tailKey = tail?.key ?? null
    }
    if (unused !== null && unused !== this.#tailKey) await this.#deleteTail(unused)
    if (!isSaved) throw new TusWriterReplacedError()
  }

  async #deleteTail(key: string): Promise<void> {
    await runOrLogError("uploads.tail_not_deleted", { upload_id: this.#open.row.id }, async () => {
      await this.#env.MEDIA.delete(key)
    })
  }
}
