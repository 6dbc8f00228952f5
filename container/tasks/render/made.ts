import { renditionFilters } from "./encode-arguments.ts"
import type { PictureSource, PlannedRendition } from "./encode-arguments.ts"
import type { MadeRendition, RenditionSource } from "./measure-quality.ts"
import type { SourceVideo } from "./source.ts"

/** Formats of which ffmpeg counts the time from the first of the streams that are used. */
const BROADCAST_FORMAT = "mpegts"

/** A rendition that was made, as it is compared with its source. */
export function describeMade(video: SourceVideo, rendition: PlannedRendition): MadeRendition {
  const { key, name, target } = rendition
  const { frameRate, width, height } = target
  const { shared, own } = renditionFilters(video, [rendition])
  return { key, name, filters: [...shared, ...own.flat()].join(","), frameRate, width, height }
}

/** The picture of a source, as renditions are compared with it. */
export function placeOf(source: PictureSource): RenditionSource {
  const { audio, durationSeconds, format, name, startSeconds, video } = source
  const used = [video, ...(audio ? [audio] : [])].map((stream) => stream.startSeconds)
  const firstSeconds = format === BROADCAST_FORMAT ? Math.min(...used) : 0
  return {
    name,
    videoStream: video.index,
    startSeconds: startSeconds + firstSeconds,
    durationSeconds,
  }
}
