import type { RefusalReason } from "./refusal.ts"

const HARDWARE =
  /_(?:amf|cuvid|d3d12va|mediacodec|mf|mmal|nvenc|nvmpi|omx|qsv|rkmpp|v4l2m2m|vaapi|videotoolbox|vulkan)$|^nvenc/

/**
 * Software encoders that replace hardware encoders. Each pattern matches the beginning of a codec's
 * name.
 */
const SOFTWARE: readonly (readonly [RegExp, string])[] = [
  [/^(?:h264|nvenc_h264|nvenc$)/, "libx264"],
  [/^(?:hevc|nvenc_hevc)/, "libx265"],
  [/^av1/, "libsvtav1"],
  [/^vp8/, "libvpx"],
  [/^vp9/, "libvpx-vp9"],
  [/^mpeg2/, "mpeg2video"],
  [/^prores/, "prores_ks"],
  [/^mjpeg/, "mjpeg"],
]

/** Returns the reason to refuse a codec that needs special hardware; null for other codecs. */
export function findCodecRefusalReason(codec: string): RefusalReason | null {
  if (!HARDWARE.test(codec)) return null
  const software = SOFTWARE.find(([begins]) => begins.test(codec))?.[1]
  return {
    why: "needs a device, and a command has none",
    instead: software === undefined ? "use a codec in software" : `use ${software} for encoding`,
  }
}
