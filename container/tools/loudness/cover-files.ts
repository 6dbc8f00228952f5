import { writeFile } from "node:fs/promises"
import { openPlainFile, pathIn } from "../../sandbox/workspace.ts"
import type { OtherStream } from "./source.ts"

/** A cover that was taken out of its file, since its container takes it as no stream. */
export type CoverFile = { stream: OtherStream; name: string }

/** The name of the file of metadata that holds covers as comments. */
export const COVER_TAGS_NAME = "covers.txt"

const MEDIA_TYPES: Record<string, string> = {
  mjpeg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
  bmp: "image/bmp",
}
/** What ffmpeg calls the types of pictures that a file may have, in the order of their numbers. */
const PICTURE_TYPES = [
  "other",
  "32x32 pixels 'file icon'",
  "other file icon",
  "cover (front)",
  "cover (back)",
]
const FRONT_COVER = 3
/** The most characters of a cover's name, which is a word of a command. */
const NAME_LENGTH_MAX = 255
/** The most bytes of covers that become comments, each of which players read into memory. */
const COMMENTED_BYTES_MAX = 64 * 1024 ** 2
const COLOR_BITS = 24

/** The names of the files that covers are taken out to. */
export function coverFiles(covers: readonly OtherStream[]): CoverFile[] {
  return covers.map((stream) => ({ stream, name: `cover-${stream.index}` }))
}

/** Arguments that take covers out of a file, each as it is. */
export function extractionArguments(input: string, covers: readonly CoverFile[]): string[] {
  const outputs = covers.flatMap(({ stream, name }) =>
    `-map 0:${stream.index} -c copy -frames:v 1 -f image2pipe ${name}`.split(" "),
  )
  return ["-i", input, ...outputs]
}

/** Writes covers as comments of Ogg, as a file that ffmpeg reads; arguments may not be so long. */
export async function writeCoverTags(
  workspace: string,
  covers: readonly CoverFile[],
): Promise<void> {
  const lines: string[] = []
  let left = COMMENTED_BYTES_MAX
  for (const { stream, name } of covers) {
    await using file = await openPlainFile(pathIn(workspace, name))
    const { size } = await file.stat()
    if (size > left) continue
    left -= size
    const block = pictureBlock(stream, await file.readFile())
    const text = block.toString("base64").replaceAll("=", String.raw`\=`)
    lines.push(`METADATA_BLOCK_PICTURE=${text}\n`)
  }
  // What is there already is a tool's, and may lead elsewhere.
  const path = pathIn(workspace, COVER_TAGS_NAME)
  await writeFile(path, [";FFMETADATA1\n", ...lines].join(""), { flag: "wx" })
}

/** Arguments that attach covers to a file of Matroska; `attached` is how many it has before them. */
export function attachmentArguments(covers: readonly CoverFile[], attached: number): string[] {
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

/** A picture as FLAC and Ogg keep it: big-endian numbers, and texts behind their lengths. */
function pictureBlock(stream: OtherStream, picture: Buffer): Buffer {
  const type = PICTURE_TYPES.indexOf(stream.tags["comment"]?.toLowerCase() ?? "")
  const { width, height } = stream.size ?? { width: 0, height: 0 }
  return Buffer.concat([
    numbers(type === -1 ? FRONT_COVER : type),
    counted(Buffer.from(mediaTypeOf(stream))),
    counted(Buffer.from(stream.tags["title"] ?? "")),
    numbers(width, height, COLOR_BITS, 0),
    counted(picture),
  ])
}

function mediaTypeOf({ codec }: OtherStream): string {
  return MEDIA_TYPES[codec ?? ""] ?? "application/octet-stream"
}

function counted(bytes: Buffer): Buffer {
  return Buffer.concat([numbers(bytes.length), bytes])
}

function numbers(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) buffer.writeUInt32BE(value, index * 4)
  return buffer
}
