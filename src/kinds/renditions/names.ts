import { getFileNameStem } from "../file-name.ts"
import type { Rendition } from "../../contract/tasks/render.ts"

/**
 * Maximum length of a file name's stem in characters. A name then has less than 255 bytes in UTF-8.
 */
const STEM_LENGTH_MAX = 50

/**
 * Returns the file names of renditions by key, such as `film_720p_h264.mp4` for `film.mkv`. Adds a
 * number to a name that another rendition already has.
 */
export function buildRenditionFileNames(
  sourceName: string,
  renditions: readonly Rendition[],
): ReadonlyMap<string, string> {
  const stem = getFileNameStem(sourceName, { lengthMax: STEM_LENGTH_MAX, fallback: "video" })
  const useCounts = new Map<string, number>()
  return new Map(
    renditions.map(({ key, codec, resolution, container }) => {
      const base = [stem, resolution, codec].join("_")
      const name = `${base}.${container}`
      const number = (useCounts.get(name) ?? 0) + 1
      useCounts.set(name, number)
      return [key, number === 1 ? name : `${base}_${number}.${container}`] as const
    }),
  )
}
