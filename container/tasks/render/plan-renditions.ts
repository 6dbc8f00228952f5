import type { RenderWork } from "../../../src/contract/tasks/render.ts"
import type { Warning } from "../../../src/contract/warning.ts"
import { shortestEncodableSidePixels } from "../../tools/renditions/video-encoder-arguments.ts"
import type { PlannedRendition } from "./encode-arguments.ts"
import { chooseFrameRate } from "./frame-rate.ts"
import { computeDisplaySize, fitRenditionSize, encodedFrameSize } from "./geometry.ts"
import type { SourceVideoStream } from "./render-source.ts"

/**
 * Renditions to encode, and requested renditions (`same`) that are not encoded because an earlier
 * rendition is identical.
 */
export type RenditionPlan = {
  renditions: PlannedRendition[]
  same: { key: string; rendition: PlannedRendition }[]
}

/**
 * Plans the file name, picture size and encoding target of each rendition. Pictures are never
 * enlarged, so several requested sizes may result in identical renditions. Identical renditions are
 * encoded once.
 */
export function planRenditions(
  video: SourceVideoStream,
  { renditions, outputs }: Pick<RenderWork, "renditions" | "outputs">,
): RenditionPlan {
  const shown = computeDisplaySize(video.size, video)
  const frameRate = chooseFrameRate(video.rate)
  const names = new Map(outputs.map(({ key, name }) => [key, name]))
  const plan: RenditionPlan = { renditions: [], same: [] }
  for (const { key, codec, container, resolution, bitrate_kbps: kbps = null } of renditions) {
    const picture = fitRenditionSize(shown, resolution)
    const frame = encodedFrameSize(picture, shortestEncodableSidePixels(codec))
    const planned = {
      key,
      name: names.get(key) ?? `${key}.${container}`,
      picture,
      target: { codec, container, ...frame, frameRate, bitrateKbps: kbps },
      encoderKbps: kbps,
    }
    const rendition = plan.renditions.find((other) => areDuplicates(other, planned))
    if (rendition) plan.same.push({ key, rendition })
    else plan.renditions.push(planned)
  }
  return plan
}

function areDuplicates(one: PlannedRendition, other: PlannedRendition): boolean {
  return (
    one.picture.width === other.picture.width &&
    one.picture.height === other.picture.height &&
    one.target.codec === other.target.codec &&
    one.target.container === other.target.container &&
    one.target.bitrateKbps === other.target.bitrateKbps
  )
}

/**
 * Returns a warning for each rendition that was encoded once although several requested renditions
 * are identical to it.
 */
export function duplicateRenditionWarnings(same: RenditionPlan["same"]): Warning[] {
  const groups = Map.groupBy(same, ({ rendition }) => rendition)
  return [...groups].map(([{ key, picture, target }, others]) => {
    const { codec, container } = target
    const facts = `${codec} in ${container}, ${picture.width}x${picture.height}`
    const keys = others.map((other) => other.key)
    const verb = keys.length === 1 ? "is" : "are"
    const message = `${keys.join(", ")} ${verb} the same as ${key} (${facts}), which was encoded once.`
    return { code: "same_rendition", message }
  })
}
