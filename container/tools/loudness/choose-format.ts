import { findAudioContainer, findSubstituteContainer } from "./audio-containers.ts"
import type { AudioContainer } from "./audio-containers.ts"
import { findAudioEncoder, needsLosslessEncoder } from "./audio-encoders.ts"
import type { DecodableAudioStream, NormalizationSource } from "./normalization-source.ts"

/** Format of a normalized file: the container, the file extension and the audio codecs. */
export type NormalizedFormat = {
  container: AudioContainer
  extension: string
  /** Codec of each audio stream, in the order of the streams. */
  codecs: string[]
  /**
   * Whether the output has the same container as the source, so that unchanged streams can be
   * copied.
   */
  isSameContainer: boolean
}

/**
 * Chooses the format of a normalized file: the format of the source if ffmpeg can write that
 * format, else the most similar format. Returns null if no format supports the channels of the
 * source.
 */
export function chooseNormalizedFormat(source: NormalizationSource): NormalizedFormat | null {
  const own = findAudioContainer(source)
  const kept = own && fitCodecs(source, own)
  if (own && kept) {
    const isKnown = own.extensions.includes(source.extension)
    const extension = isKnown ? source.extension : (own.extensions[0] ?? own.name)
    return { container: own, extension, codecs: kept, isSameContainer: true }
  }
  const other = findSubstituteContainer(source, source.audio.every(needsLosslessEncoder))
  return (other && formatIn(source, other)) ?? chooseFallbackFormat(source)
}

/**
 * Returns a format with the container Matroska, which accepts nearly any stream. This is the second
 * choice for a source with a stream that the container chosen first has rejected.
 */
export function chooseFallbackFormat(source: NormalizationSource): NormalizedFormat | null {
  const audio = [...source.audio, ...source.audio]
  const film = findSubstituteContainer({ ...source, audio }, false)
  return film && formatIn(source, film)
}

function formatIn(source: NormalizationSource, container: AudioContainer): NormalizedFormat | null {
  const codecs = fitCodecs(source, container)
  const [usual = container.name] = container.extensions
  const isSound = !source.others.some(({ type }) => type === "video")
  const extension = container.name === "matroska" && isSound ? "mka" : usual
  return codecs && { container, extension, codecs, isSameContainer: false }
}

/**
 * Returns the codec of each audio stream in a container; null if a stream fits no codec of the
 * container.
 */
function fitCodecs({ audio }: NormalizationSource, container: AudioContainer): string[] | null {
  const codecs = audio.flatMap((stream) => fitCodec(stream, container) ?? [])
  return codecs.length === audio.length ? codecs : null
}

function fitCodec(
  stream: DecodableAudioStream,
  { refuses, ...container }: AudioContainer,
): string | null {
  const { codec, channels } = stream
  const own = findAudioEncoder(codec)
  if (own && refuses?.test(codec) !== true && channels <= own.channelsMax) return codec
  const candidates = needsLosslessEncoder(stream)
    ? [...container.lossless, ...container.lossy]
    : container.lossy
  const fitting = candidates.find((each) => channels <= (findAudioEncoder(each)?.channelsMax ?? 0))
  return fitting === undefined ? null : withEnoughBits(fitting, stream)
}

/**
 * Replaces a 16-bit PCM codec by the 24-bit PCM codec if the source has more than 16 bits per
 * sample.
 */
function withEnoughBits(codec: string, { sampleFormat }: DecodableAudioStream): string {
  return codec.startsWith("pcm_s16") && /^(?:s32|flt|dbl)/.test(sampleFormat)
    ? codec.replace("s16", "s24")
    : codec
}
