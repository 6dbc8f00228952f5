import type { NormalizeResult } from "../../../src/contract/tasks/normalize.ts"

/** Returns the result of a `normalize` task as a runner reports it, with some fields replaced. */
export function makeNormalizeResult(changes: Partial<NormalizeResult> = {}): NormalizeResult {
  const format = { container: "wav", codec: "pcm_s16le" }
  return {
    kind: "normalize",
    outputs: [
      {
        key: "output",
        name: "output.wav",
        size_bytes: 9,
        content_type: "audio/wav",
        probe: {
          duration: 2.5,
          format_name: "wav",
          streams: [{ codec_type: "audio", codec_name: "pcm_s16le" }],
          format: {},
        },
      },
    ],
    measurements: {
      before: { integrated_lufs: -31.2, range_lu: 4.5, true_peak_dbtp: -9.1 },
      after: { integrated_lufs: -23, range_lu: 4.5, true_peak_dbtp: -1 },
    },
    normalization_type: "linear",
    target_reached: true,
    format,
    converted_from: null,
    ...changes,
  }
}
