import type { Rendition } from "../../contract/tasks/render.ts"

/** So long that a name with it has less than 255 bytes, whatever its characters. */
const STEM_LENGTH_MAX = 50

/**
 * The names of renditions by their keys: `film_720p_h264.mp4` of `film.mkv`, and a number where
 * several would have the same.
 */
export function renditionNames(
  sourceName: string,
  renditions: readonly Rendition[],
): ReadonlyMap<string, string> {
  const stem = stemOf(sourceName)
  const taken = new Map<string, number>()
  return new Map(
    renditions.map(({ key, codec, resolution, container }) => {
      const base = [stem, resolution, codec].join("_")
      const name = `${base}.${container}`
      const number = (taken.get(name) ?? 0) + 1
      taken.set(name, number)
      return [key, number === 1 ? name : `${base}_${number}.${container}`] as const
    }),
  )
}

function stemOf(name: string): string {
  const stem = name.replace(/\.[A-Za-z0-9]{1,10}$/, "").trim()
  return (stem === "" ? "video" : stem).slice(0, STEM_LENGTH_MAX).toWellFormed().trimEnd()
}
