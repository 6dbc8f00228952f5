/** File or job output that a page can show or play. */
export type PlayableFile = {
  name: string
  /** Download URL of the file at this service. */
  url: string
  contentType?: string | null | undefined
}

/** Way in which a page shows a file. */
export type PlayableKind = "video" | "audio" | "picture" | "captions" | "other"

const BY_EXTENSION: Readonly<Record<string, PlayableKind>> = {
  ...byExtension("video", "mp4 m4v mov webm mkv m3u8 ogv"),
  ...byExtension("audio", "mp3 m4a aac ogg oga opus wav flac"),
  ...byExtension("picture", "png jpg jpeg gif webp avif svg bmp apng"),
  ...byExtension("captions", "vtt"),
}

/** Returns how a page shows a file, by the extension of its name, or else by its media type. */
export function detectPlayableKind({ name, contentType }: PlayableFile): PlayableKind {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""
  const kind = BY_EXTENSION[extension]
  if (kind) return kind
  if (contentType?.startsWith("video/")) return "video"
  return contentType?.startsWith("audio/") ? "audio" : "other"
}

/** Returns the path that redirects to a signed link for display or playback in the browser. */
export function inlineMediaPath(url: string): string {
  return `${downloadPath(url)}?disposition=inline`
}

/** Returns the path that redirects to a signed link for a download. */
export function downloadPath(url: string): string {
  return new URL(url).pathname
}

/**
 * Video player, audio player or picture for a file. Shows nothing for a file that browsers cannot
 * show. `tracks` are the captions of a video.
 */
export function Player(props: { shown: PlayableFile; tracks?: readonly PlayableFile[] }) {
  const { shown, tracks = [] } = props
  const { name, url } = shown
  const kind = detectPlayableKind(shown)
  if (kind === "picture") {
    return (
      <img class="media" src={inlineMediaPath(url)} alt={`The picture ${name}`} loading="lazy" />
    )
  }
  if (kind === "audio") {
    return (
      <audio
        class="media"
        src={inlineMediaPath(url)}
        controls
        preload="metadata"
        aria-label={name}
      />
    )
  }
  if (kind !== "video") return null
  const isHls = /\.m3u8$/i.test(name)
  return (
    <>
      <video
        class="media"
        src={inlineMediaPath(url)}
        controls
        playsinline
        preload="metadata"
        aria-label={name}
        data-needs={isHls ? "application/vnd.apple.mpegurl" : undefined}
      >
        {tracks.map((track) => (
          <track kind="captions" src={inlineMediaPath(track.url)} label={track.name} />
        ))}
      </video>
      {isHls && (
        <p class="hint" data-unless-played hidden>
          This browser cannot play HLS: open the URL of the playlist in another player.
        </p>
      )}
    </>
  )
}

function byExtension(kind: PlayableKind, extensions: string): Record<string, PlayableKind> {
  return Object.fromEntries(extensions.split(" ").map((extension) => [extension, kind]))
}
