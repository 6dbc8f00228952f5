import { openToolWrittenFile } from "../../sandbox/workspace.ts"

/** Properties of an MP4 or QuickTime file that ffprobe does not report. */
export type MovieHeader = {
  /**
   * Whether the index (`moov`) precedes the media data, so that players can play the file during
   * the download.
   */
  isBeforeMedia: boolean
  isEncrypted: boolean
  /**
   * Whether edit lists hide all samples, as after a stream copy from a time past the end of the
   * input.
   */
  isHidden: boolean
}

const BOX_HEAD_BYTES = 16
const BOXES_MAX = 100
const INDEX_BYTES_MAX = 32 * 1024 * 1024
/** Types of sample entries of encrypted streams, for Common Encryption and for Apple's FairPlay. */
const ENCRYPTED_ENTRIES = ["enca", "encv", "drms", "drmi"]

/**
 * Number of bytes from the type `mvhd` of the movie header box to the end of the duration in that
 * box.
 */
const HEADER_BYTES = 36

/** Reads the boxes of an MP4 or QuickTime file. All fields are false if the file has no index. */
export async function readMovieHeader(path: string): Promise<MovieHeader> {
  await using handle = await openToolWrittenFile(path)
  let position = 0
  let isBeforeMedia = true
  for (let count = 0; count < BOXES_MAX; count += 1) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BOX_HEAD_BYTES), { position })
    if (bytesRead < BOX_HEAD_BYTES) break
    const short = buffer.readUInt32BE(0)
    const size = short === 1 ? Number(buffer.readBigUInt64BE(8)) : short
    const type = buffer.toString("latin1", 4, 8)
    if (type === "moov") {
      const index = Buffer.alloc(Math.min(size, INDEX_BYTES_MAX))
      await handle.read(index, { position })
      const isEncrypted = ENCRYPTED_ENTRIES.some((each) => index.includes(each))
      return { isBeforeMedia, isEncrypted, isHidden: hasZeroDuration(index) }
    }
    if (type === "mdat") isBeforeMedia = false
    position += size
    // Stops at an invalid box size, since the next box cannot be found.
    if (size < 8 || !Number.isSafeInteger(position)) break
  }
  return { isBeforeMedia: false, isEncrypted: false, isHidden: false }
}

/**
 * Reports whether the duration in the index (`moov`) is zero. Returns false for fragmented files,
 * whose index normally contains no duration.
 */
function hasZeroDuration(index: Buffer): boolean {
  const at = index.indexOf("mvhd")
  if (at === -1 || at + HEADER_BYTES > index.length || index.includes("mvex")) return false
  // In version 1 of the `mvhd` box, times have 64 bits.
  return index[at + 4] === 1
    ? index.readBigUInt64BE(at + 28) === 0n
    : index.readUInt32BE(at + 20) === 0
}
