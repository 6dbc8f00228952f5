/** Something that was made or stored, as far as a page may show it. */
export type Playable = {
  name: string
  /** Its download_url, which is one of this service's own. */
  url: string
  contentType?: string | null | undefined
}

export type PlayableKind = "video" | "audio" | "picture" | "captions" | "other"

const BY_EXTENSION: Readonly<Record<string, PlayableKind>> = {
  ...named("video", "mp4 m4v mov webm mkv m3u8 ogv"),
  ...named("audio", "mp3 m4a aac ogg oga opus wav flac"),
  ...named("picture", "png jpg jpeg gif webp avif svg bmp apng"),
  ...named("captions", "vtt"),
}

/** How a page shows something, by its name, or else by its media type. */
export function playableKind({ name, contentType }: Playable): PlayableKind {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""
  const known = BY_EXTENSION[extension]
  if (known) return known
  if (contentType?.startsWith("video/")) return "video"
  return contentType?.startsWith("audio/") ? "audio" : "other"
}

/** The address under this origin that leads to a signed link, which a browser shows or plays. */
export function inlineUrl(url: string): string {
  return `${downloadPath(url)}?disposition=inline`
}

/** The address under this origin that leads to a signed link, which a browser saves. */
export function downloadPath(url: string): string {
  return new URL(url).pathname
}

/**
 * A player of a video or of sound, or a picture; nothing of what browsers show in no way. `tracks`
 * are captions that belong to it.
 */
export function Player(props: { shown: Playable; tracks?: readonly Playable[] }) {
  const { shown, tracks = [] } = props
  const { name, url } = shown
  const kind = playableKind(shown)
  if (kind === "picture") {
    return <img class="media" src={inlineUrl(url)} alt={`The picture ${name}`} loading="lazy" />
  }
  if (kind === "audio") {
    return (
      <audio class="media" src={inlineUrl(url)} controls preload="metadata" aria-label={name} />
    )
  }
  if (kind !== "video") return null
  const isHls = /\.m3u8$/i.test(name)
  return (
    <>
      <video
        class="media"
        src={inlineUrl(url)}
        controls
        playsinline
        preload="metadata"
        aria-label={name}
        data-needs={isHls ? "application/vnd.apple.mpegurl" : undefined}
      >
        {tracks.map((track) => (
          <track kind="captions" src={inlineUrl(track.url)} label={track.name} />
        ))}
      </video>
      {isHls && (
        <p class="hint" data-unless-played hidden>
          This browser plays no HLS: open the address of the playlist in a player that does.
        </p>
      )}
    </>
  )
}

function named(kind: PlayableKind, extensions: string): Record<string, PlayableKind> {
  return Object.fromEntries(extensions.split(" ").map((extension) => [extension, kind]))
}
