/**
 * File of a ZIP archive. Files are not compressed, so that the layout can be computed before their
 * bytes are read.
 */
export type ZipEntry = { name: string; sizeBytes: number; crc: number }

/**
 * Bytes of a ZIP archive other than its files: a header before each file, and the central directory
 * at the end. `sizeBytes` is the size of the whole archive.
 */
export type ZipLayout = { headers: Uint8Array[]; directory: Uint8Array; sizeBytes: number }

const MAX_16 = 0xffff
const MAX_32 = 0xffff_ffff
const VERSION = 20
const VERSION_ZIP64 = 45
const MADE_ON_UNIX = 3 << 8
const NAMES_ARE_UTF8 = 1 << 11
const PLAIN_FILE_MODE = (0o100644 << 16) >>> 0
const ZIP64_FIELD = 1

/** Little-endian field: its size in bytes, and its value. */
type Field = readonly [2 | 4 | 8, number]

/**
 * Computes the layout of a ZIP archive of uncompressed files (PKWARE APPNOTE 6.3.9). Uses ZIP64
 * where a size, offset or count requires it. Names are UTF-8; `modifiedAt` is written in UTC.
 */
export function computeZipLayout(entries: readonly ZipEntry[], modifiedAt: Date): ZipLayout {
  const headers: Uint8Array[] = []
  const records: Uint8Array[] = []
  let offset = 0
  for (const entry of entries) {
    const header = localHeader(entry, modifiedAt)
    headers.push(header)
    records.push(directoryRecord(entry, offset, modifiedAt))
    offset += header.byteLength + entry.sizeBytes
  }
  const recordsBytes = records.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const end = directoryEnd({ count: entries.length, sizeBytes: recordsBytes, offset })
  const directory = join([...records, end])
  return { headers, directory, sizeBytes: offset + directory.byteLength }
}

function localHeader(entry: ZipEntry, modifiedAt: Date): Uint8Array {
  const { sizeBytes } = entry
  const large = sizeBytes >= MAX_32 ? [sizeBytes, sizeBytes] : []
  return join([
    pack([4, 0x0403_4b50], ...sharedFields(entry, large, modifiedAt)),
    encode(entry.name),
    zip64Field(large),
  ])
}

function directoryRecord(entry: ZipEntry, offset: number, modifiedAt: Date): Uint8Array {
  const { sizeBytes } = entry
  const large = [
    ...(sizeBytes >= MAX_32 ? [sizeBytes, sizeBytes] : []),
    ...(offset >= MAX_32 ? [offset] : []),
  ]
  const comment: Field = [2, 0]
  const disk: Field = [2, 0]
  const internal: Field = [2, 0]
  return join([
    pack([4, 0x0201_4b50], [2, MADE_ON_UNIX | VERSION_ZIP64]),
    pack(...sharedFields(entry, large, modifiedAt)),
    pack(comment, disk, internal, [4, PLAIN_FILE_MODE], [4, Math.min(offset, MAX_32)]),
    encode(entry.name),
    zip64Field(large),
  ])
}

/**
 * Returns the fields that local headers and directory records share, from the version needed to the
 * length of the extra field.
 */
function sharedFields({ name, sizeBytes, crc }: ZipEntry, large: number[], at: Date): Field[] {
  const size = Math.min(sizeBytes, MAX_32)
  const isStored: Field = [2, 0]
  return [
    [2, large.length > 0 ? VERSION_ZIP64 : VERSION],
    [2, NAMES_ARE_UTF8],
    isStored,
    [2, (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)],
    [2, ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()],
    [4, crc],
    [4, size],
    [4, size],
    [2, encode(name).byteLength],
    [2, zip64Field(large).byteLength],
  ]
}

/**
 * Returns the ZIP64 extra field with the values that exceed their 32-bit fields. The 32-bit fields
 * of these values have all bits set.
 */
function zip64Field(large: number[]): Uint8Array {
  if (large.length === 0) return new Uint8Array()
  return pack([2, ZIP64_FIELD], [2, large.length * 8], ...large.map((value): Field => [8, value]))
}

function directoryEnd(of: { count: number; sizeBytes: number; offset: number }): Uint8Array {
  const { count, sizeBytes, offset } = of
  const shortCount = Math.min(count, MAX_16)
  const end = pack(
    [4, 0x0605_4b50],
    [4, 0], // Numbers of this disk and of the disk with the directory.
    [2, shortCount],
    [2, shortCount],
    [4, Math.min(sizeBytes, MAX_32)],
    [4, Math.min(offset, MAX_32)],
    [2, 0], // Length of the comment of the archive, in bytes.
  )
  if (count < MAX_16 && sizeBytes < MAX_32 && offset < MAX_32) return end
  const large = pack(
    [4, 0x0606_4b50],
    [8, 44], // Size of the rest of this record, in bytes.
    [2, MADE_ON_UNIX | VERSION_ZIP64],
    [2, VERSION_ZIP64],
    [8, 0], // Numbers of this disk and of the disk with the directory.
    [8, count],
    [8, count],
    [8, sizeBytes],
    [8, offset],
  )
  const locator = pack([4, 0x0706_4b50], [4, 0], [8, offset + sizeBytes], [4, 1])
  return join([large, locator, end])
}

function pack(...fields: Field[]): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, [length]) => sum + length, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const [length, value] of fields) {
    if (length === 2) view.setUint16(at, value, true)
    else if (length === 4) view.setUint32(at, value, true)
    else view.setBigUint64(at, BigInt(value), true)
    at += length
  }
  return bytes
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  return bytes
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
