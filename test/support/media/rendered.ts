import type { RenderResult } from "../../../src/contract/tasks/render.ts"

/**
 * Returns the result of a task that makes renditions of a video, with one rendition for each key.
 */
export function makeRenderResult(...keys: string[]): RenderResult {
  return {
    kind: "render",
    outputs: keys.map((key) => ({
      key,
      size_bytes: 9,
      content_type: "video/mp4",
      probe: {
        width: 640,
        height: 360,
        duration: 1.5,
        format_name: "mov,mp4",
        streams: [{ codec_type: "video", codec_name: "hevc" }],
        format: {},
      },
      quality: { metric: "ssim", score: 0.97 },
    })),
  }
}
