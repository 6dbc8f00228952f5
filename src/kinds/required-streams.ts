import type { File } from "../db/schema/files.ts"
import type { Fault } from "../domain/faults.ts"
import { isCallerFileSource, isFinalState } from "../domain/states.ts"
import type { ResolvedInput } from "./kind.ts"
import { findVideoStream } from "./display-geometry.ts"

/** Reports whether a probe has found that a stored file is not media. */
export function isNonMediaFile({ state, source, probe, probeError, bundle }: File): boolean {
  if (state !== "succeeded" || probe !== null || bundle !== null) return false
  // An uploaded or imported file with a probe error was not probed, because its job ended early.
  // For an output, a probe error means that ffprobe could not read the file.
  return isCallerFileSource(source) ? probeError === null : probeError !== null
}

const EXPECTED = {
  audio: { code: "no_audio", media: "media with sound", missing: "has no audio stream" },
  video: { code: "no_video", media: "media with a picture", missing: "has no video stream" },
} as const

/**
 * Returns faults of inputs that lack a required video or audio stream according to their probe. The
 * run of the job checks inputs without a probe.
 */
export function findMissingStreamFaults(
  inputs: readonly ResolvedInput[],
  type: "audio" | "video",
): Fault[] {
  return inputs.flatMap(({ field, file }): Fault[] => {
    if (!file || file.objectKey === null || !isFinalState(file.state)) return []
    const { code, media, missing } = EXPECTED[type]
    const expected = `expected ${media}, and "${file.name}"`
    if (file.errorCode === "probe_failed") {
      const why = file.errorMessage ?? "ffprobe cannot read it."
      return [{ field, code: "probe_failed", message: `${expected} failed its probe: ${why}` }]
    }
    if (isNonMediaFile(file)) return [{ field, code, message: `${expected} is no media` }]
    return lacksStream(file, type) ? [{ field, code, message: `${expected} ${missing}` }] : []
  })
}

function lacksStream({ probe }: File, type: "audio" | "video"): boolean {
  // A probe that exceeded its size limit may be stored without streams.
  if (probe === null || probe.streams.length === 0) return false
  if (type === "video") return findVideoStream(probe) === undefined
  return probe.streams.every((stream) => stream["codec_type"] !== type)
}
