import { findContainer, otherContainer } from "./containers.ts"
import type { Container } from "./containers.ts"
import { findEncoder, isLosslessSource } from "./encoders.ts"
import type { AudioStream, Source } from "./source.ts"

/** What a normalized file is to be: its container, the end of its name, and its codecs of sound. */
export type OutputFormat = {
  container: Container
  extension: string
  /** The codec of each stream of sound, in their order. */
  codecs: string[]
  /** Whether the container is that of the source, so that streams can be copied. */
  isSameContainer: boolean
}

/** The format of a source where it can be kept, else the nearest that fits. */
export function chooseFormat(source: Source): OutputFormat | null {
  const own = findContainer(source)
  const kept = own && fitCodecs(source, own)
  if (own && kept) {
    const isKnown = own.extensions.includes(source.extension)
    const extension = isKnown ? source.extension : (own.extensions[0] ?? own.name)
    return { container: own, extension, codecs: kept, isSameContainer: true }
  }
  const other = otherContainer(source, source.audio.every(isLosslessSource))
  return (other && formatIn(source, other)) ?? roomyFormat(source)
}

/** The format in which any source fits, for one that its own container turned out not to take. */
export function roomyFormat(source: Source): OutputFormat | null {
  const film = otherContainer({ ...source, audio: [...source.audio, ...source.audio] }, false)
  return film && formatIn(source, film)
}

function formatIn(source: Source, container: Container): OutputFormat | null {
  const codecs = fitCodecs(source, container)
  const [usual = container.name] = container.extensions
  const isSound = !source.others.some(({ type }) => type === "video")
  const extension = container.name === "matroska" && isSound ? "mka" : usual
  return codecs && { container, extension, codecs, isSameContainer: false }
}

/** The codec of each stream in a container; null where one of them fits none. */
function fitCodecs({ audio }: Source, container: Container): string[] | null {
  const codecs = audio.flatMap((stream) => fitCodec(stream, container) ?? [])
  return codecs.length === audio.length ? codecs : null
}

function fitCodec(stream: AudioStream, { refuses, ...container }: Container): string | null {
  const { codec, channels } = stream
  const own = findEncoder(codec)
  if (own && refuses?.test(codec) !== true && channels <= own.channelsMax) return codec
  const candidates = isLosslessSource(stream)
    ? [...container.lossless, ...container.lossy]
    : container.lossy
  const fitting = candidates.find((each) => channels <= (findEncoder(each)?.channelsMax ?? 0))
  return fitting === undefined ? null : deepEnough(fitting, stream)
}

/** Plain samples of a converted stream have as many bits as its own. */
function deepEnough(codec: string, { sampleFormat }: AudioStream): string {
  return codec.startsWith("pcm_s16") && /^(?:s32|flt|dbl)/.test(sampleFormat)
    ? codec.replace("s16", "s24")
    : codec
}
