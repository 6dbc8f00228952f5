import type { RenditionCodec } from "../../../src/contract/tasks/render.ts"
import type { VideoTarget } from "../../tools/renditions/video-encoder.ts"

const MIB = 1024 ** 2

/**
 * What an encoder takes of the address space of its process: so much at least, and for each pixel
 * of its picture. Measured at 480p to 4K with 16 threads, and rounded up.
 */
const ENCODER_BYTES: Record<RenditionCodec, { base: number; perPixel: number }> = {
  h264: { base: 300 * MIB, perPixel: 350 },
  h265: { base: 500 * MIB, perPixel: 350 },
  vp9: { base: 300 * MIB, perPixel: 250 },
  av1: { base: 2200 * MIB, perPixel: 350 },
}
/** What ffmpeg itself and the decoder take, with frames of the source between the filters. */
const DECODER_BYTES = 600 * MIB
const DECODER_BYTES_PER_PIXEL = 100
/** A part of the limits stays free, since what a picture needs depends on it. */
const USED_SHARE = 0.8
/**
 * Threads of an encoder, its frame threads at their most. SVT-AV1 starts about a hundred whatever it
 * is asked for, and waits for ever where it gets fewer.
 */
const ENCODER_THREADS: Record<RenditionCodec, number> = { h264: 24, h265: 24, vp9: 20, av1: 110 }
/** Those of ffmpeg itself, of the decoder and of the filters. */
const DECODER_THREADS = 48
/** More outputs of one process gain nothing. */
const GROUP_MAX = 8

/** What a process may have: bytes of address space, and threads. */
export type ProcessLimits = { memoryBytes: number; threads: number }

/**
 * Puts renditions into groups that are made with one decode each: as many as one process can carry
 * within its limits. A decode is worth as much as a small encode, so that the fewer the better.
 */
export function groupRenditions<Each extends { target: VideoTarget }>(
  renditions: readonly Each[],
  source: { width: number; height: number },
  limits: ProcessLimits,
): Each[][] {
  const decoder = DECODER_BYTES + DECODER_BYTES_PER_PIXEL * source.width * source.height
  const room = {
    bytes: limits.memoryBytes * USED_SHARE - decoder,
    threads: limits.threads * USED_SHARE - DECODER_THREADS,
  }
  const groups: { members: Each[]; bytes: number; threads: number }[] = []
  for (const rendition of renditions) {
    const bytes = encoderBytes(rendition.target)
    const threads = ENCODER_THREADS[rendition.target.codec]
    const group = groups.find(
      (each) =>
        each.members.length < GROUP_MAX &&
        each.bytes + bytes <= room.bytes &&
        each.threads + threads <= room.threads,
    )
    if (group) {
      group.members.push(rendition)
      group.bytes += bytes
      group.threads += threads
    } else groups.push({ members: [rendition], bytes, threads })
  }
  return groups.map(({ members }) => members)
}

function encoderBytes({ codec, width, height }: VideoTarget): number {
  const { base, perPixel } = ENCODER_BYTES[codec]
  return base + perPixel * width * height
}
