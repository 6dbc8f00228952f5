/** Tags that players turn up or down by, and statistics of a stream, which its new sound makes wrong. */
const STALE = /^(?:replaygain_|r128_|itunnorm$|bps(?:-|$)|number_of_|_statistics_)/i

/** Arguments that take away what is no longer true; `specifier` is that of -metadata. */
export function withoutStaleTags(tags: Record<string, string>, specifier: string): string[] {
  return Object.keys(tags)
    .filter((key) => STALE.test(key))
    .flatMap((key) => [`-metadata${specifier}`, `${key}=`])
}
