/** Tags that players turn up or down by, and statistics of a stream, which its new sound makes wrong. */
const STALE = /^(?:replaygain_|r128_|itunnorm$|bps(?:-|$)|number_of_|_statistics_)/i

/** More of them, or longer ones, are of a file made to fill the words of a command. */
const TAGS_MAX = 32
const KEY_LENGTH_MAX = 64

/** Arguments that take away what is no longer true; `specifier` is that of -metadata. */
export function withoutStaleTags(tags: Record<string, string>, specifier: string): string[] {
  return Object.keys(tags)
    .filter((key) => STALE.test(key) && key.length <= KEY_LENGTH_MAX)
    .slice(0, TAGS_MAX)
    .flatMap((key) => [`-metadata${specifier}`, `${key}=`])
}
