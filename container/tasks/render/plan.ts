import type { RenderWork } from "../../../src/contract/tasks/render.ts"
import { sideMinOf } from "../../tools/renditions/video-encoder.ts"
import type { PlannedRendition } from "./encode-arguments.ts"
import { chooseFrameRate } from "./frame-rate.ts"
import { displaySize, fitSize, frameSize } from "./geometry.ts"
import type { SourceVideo } from "./source.ts"

/** What the renditions of a work are to be, and what files they become. */
export function planRenditions(
  video: SourceVideo,
  { renditions, outputs }: Pick<RenderWork, "renditions" | "outputs">,
): PlannedRendition[] {
  const shown = displaySize(video.size, video)
  const frameRate = chooseFrameRate(video.rate)
  const names = new Map(outputs.map(({ key, name }) => [key, name]))
  return renditions.map(
    ({ key, codec, container, resolution, bitrate_kbps: bitrateKbps = null }) => {
      const picture = fitSize(shown, resolution)
      const frame = frameSize(picture, sideMinOf(codec))
      return {
        key,
        name: names.get(key) ?? `${key}.${container}`,
        picture,
        target: { codec, container, ...frame, frameRate, bitrateKbps },
        askedKbps: bitrateKbps,
      }
    },
  )
}
