import { outputStart } from "../../tools/quality/output-start.ts"
import { renditionFilters } from "./encode-arguments.ts"
import type { PictureSource, PlannedRendition } from "./encode-arguments.ts"
import type { MadeRendition, RenditionSource } from "./measure-quality.ts"
import type { SourceVideo } from "./source.ts"

/** A rendition that was made, as it is compared with its source. */
export function describeMade(video: SourceVideo, rendition: PlannedRendition): MadeRendition {
  const { key, name, target } = rendition
  const { shared, own } = renditionFilters(video, [rendition])
  return { key, name, filters: [...shared, ...own.flat()], frameRate: target.frameRate }
}

/** The picture of a source, as renditions are compared with it. */
export function placeOf(source: PictureSource): RenditionSource {
  const { audio, durationSeconds, format, name, startSeconds, video } = source
  const used = [video, ...(audio ? [audio] : [])].map((each) => startSeconds + each.startSeconds)
  return {
    name,
    videoStream: video.index,
    startSeconds: outputStart({ formatName: format, startSeconds }, used),
    durationSeconds,
  }
}
