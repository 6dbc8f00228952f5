import { writeFile } from "node:fs/promises"
import { openToolWrittenFile, buildWorkspacePath } from "../../sandbox/workspace.ts"
import type { UnprocessedStream } from "./normalization-source.ts"

/**
 * Cover picture that is extracted to a file, because the output container cannot store cover
 * pictures as streams.
 */
export type CoverFile = { stream: UnprocessedStream; name: string }

/** Name of the metadata file that contains cover pictures as Ogg comments. */
export const COVER_TAGS_FILE_NAME = "covers.txt"

const MEDIA_TYPES: Record<string, string> = {
  mjpeg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
  bmp: "image/bmp",
}
/**
 * Names of FLAC's picture types that ffmpeg uses. The index of a name is the number of the picture
 * type.
 */
const PICTURE_TYPES = [
  "other",
  "32x32 pixels 'file icon'",
  "other file icon",
  "cover (front)",
  "cover (back)",
]
const FRONT_COVER = 3
/** Maximum length of the name of a cover picture, which becomes a part of the command line. */
const NAME_LENGTH_MAX = 255
/**
 * Maximum total size of cover pictures that are stored as comments, in bytes. Players read all
 * comments into memory.
 */
const COMMENTED_BYTES_MAX = 64 * 1024 ** 2
const COLOR_BITS = 24

/** Assigns a file name to each cover picture. */
export function nameCoverFiles(covers: readonly UnprocessedStream[]): CoverFile[] {
  return covers.map((stream) => ({ stream, name: `cover-${stream.index}` }))
}

/** Returns the arguments of ffmpeg that extract cover pictures unchanged to files. */
export function coverExtractionArguments(input: string, covers: readonly CoverFile[]): string[] {
  const outputs = covers.flatMap(({ stream, name }) =>
    `-map 0:${stream.index} -c copy -frames:v 1 -f image2pipe ${name}`.split(" "),
  )
  return ["-i", input, ...outputs]
}

/**
 * Writes cover pictures as Ogg comments into a metadata file for ffmpeg, because the comments are
 * too long for arguments.
 */
export async function writeCoverTagsFile(
  workspace: string,
  covers: readonly CoverFile[],
): Promise<void> {
  const lines: string[] = []
  let left = COMMENTED_BYTES_MAX
  for (const { stream, name } of covers) {
    await using file = await openToolWrittenFile(buildWorkspacePath(workspace, name))
    const { size } = await file.stat()
    if (size > left) continue
    left -= size
    const block = pictureBlock(stream, await file.readFile())
    const text = block.toString("base64").replaceAll("=", String.raw`\=`)
    lines.push(`METADATA_BLOCK_PICTURE=${text}\n`)
  }
  // Fails if the file exists (`wx`), since a tool may have created a link to a file outside the
  // workspace under this name.
  const path = buildWorkspacePath(workspace, COVER_TAGS_FILE_NAME)
  await writeFile(path, [";FFMETADATA1\n", ...lines].join(""), { flag: "wx" })
}

/**
 * Returns the arguments of ffmpeg that attach cover pictures to a Matroska file. `attached` is the
 * number of attachments that precede the cover pictures.
 */
export function coverAttachmentArguments(covers: readonly CoverFile[], attached: number): string[] {
  return covers.flatMap(({ stream, name }, index) => {
    const type = mediaTypeOf(stream)
    const named = stream.tags["filename"]?.slice(0, NAME_LENGTH_MAX)
    const fileName = named ?? `cover.${type.slice(type.indexOf("/") + 1)}`
    const at = attached + index
    const tags = { mimetype: type, filename: fileName }
    const settings = Object.entries(tags).flatMap(([key, value]) => [
      `-metadata:s:t:${at}`,
      `${key}=${value}`,
    ])
    return ["-attach", name, ...settings]
  })
}

/**
 * Encodes a picture block as FLAC and Ogg store it: big-endian numbers, and texts that are preceded
 * by their lengths.
 */
function pictureBlock(stream: UnprocessedStream, picture: Buffer): Buffer {
  const type = PICTURE_TYPES.indexOf(stream.tags["comment"]?.toLowerCase() ?? "")
  const { width, height } = stream.size ?? { width: 0, height: 0 }
  return Buffer.concat([
    numbers(type === -1 ? FRONT_COVER : type),
    withLength(Buffer.from(mediaTypeOf(stream))),
    withLength(Buffer.from(stream.tags["title"] ?? "")),
    numbers(width, height, COLOR_BITS, 0),
    withLength(picture),
  ])
}

function mediaTypeOf({ codec }: UnprocessedStream): string {
  return MEDIA_TYPES[codec ?? ""] ?? "application/octet-stream"
}

function withLength(bytes: Buffer): Buffer {
  return Buffer.concat([numbers(bytes.length), bytes])
}

function numbers(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) buffer.writeUInt32BE(value, index * 4)
  return buffer
}
