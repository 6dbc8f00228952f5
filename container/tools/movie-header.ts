import { openPlainFile } from "../sandbox/workspace.ts"

/** What the boxes of an MP4 or a QuickTime file say that no probe does. */
export type MovieHeader = {
  /** Whether its index stands before its media, so that it plays while it arrives. */
  isBeforeMedia: boolean
  isEncrypted: boolean
  /** Whether its edit lists hide all of its samples, as where a film was copied from behind its end. */
  isHidden: boolean
}

const BOX_HEAD_BYTES = 16
const BOXES_MAX = 100
const INDEX_BYTES_MAX = 32 * 1024 * 1024
/** Entries of samples that are encrypted, as by the common scheme and in shops. */
const ENCRYPTED_ENTRIES = ["enca", "encv", "drms", "drmi"]

/** The header of a film up to its length, from its name on. */
const HEADER_BYTES = 36

/** Reads the boxes of a file; none of this is true of one without an index. */
export async function readMovieHeader(path: string): Promise<MovieHeader> {
  await using handle = await openPlainFile(path)
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
      return { isBeforeMedia, isEncrypted, isHidden: lastsNoTime(index) }
    }
    if (type === "mdat") isBeforeMedia = false
    position += size
    // A size that no file has is none; nothing could be read there.
    if (size < 8 || !Number.isSafeInteger(position)) break
  }
  return { isBeforeMedia: false, isEncrypted: false, isHidden: false }
}

/** Whether an index gives a film no length; that of a film in fragments has none to give. */
function lastsNoTime(index: Buffer): boolean {
  const at = index.indexOf("mvhd")
  if (at === -1 || at + HEADER_BYTES > index.length || index.includes("mvex")) return false
  // Version 1 has times of eight bytes.
  return index[at + 4] === 1
    ? index.readBigUInt64BE(at + 28) === 0n
    : index.readUInt32BE(at + 20) === 0
}
