import { ffmpegFacts } from "./ffmpeg-facts.ts"
import image from "./image.json" with { type: "json" }
import { openFacts } from "./known.ts"
import type { Known } from "./known.ts"

/** What stands for the image's own ffmpeg, and for one of which nothing is known. */
export const OF_IMAGE = "image"
export const OF_NONE = "none"

let opened: { setting: string; known: Promise<Known | null> } | null = null

/**
 * What the deployment's ffmpeg knows: `image`, `none`, or the facts of another one as JSON, compressed
 * by gzip, in base64. Null where nothing is known.
 */
export async function knownFfmpeg(setting: string): Promise<Known | null> {
  if (opened?.setting !== setting) opened = { setting, known: open(setting) }
  return await opened.known
}

async function open(setting: string): Promise<Known | null> {
  if (setting === OF_NONE) return null
  if (setting === OF_IMAGE) return openFacts(image)
  const bytes = Uint8Array.from(atob(setting), (letter) => letter.charCodeAt(0))
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))
  return openFacts(ffmpegFacts.parse(await new Response(plain).json()))
}
