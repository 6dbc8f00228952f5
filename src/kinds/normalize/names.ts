import { NORMALIZED_OUTPUT_KEY } from "../../contract/tasks/normalize.ts"
import type { File } from "../../db/schema/files.ts"
import { getFileNameExtension, getFileNameStem } from "../file-name.ts"

/**
 * Maximum length of a file name's stem in characters. A name with its extension then has at most
 * 200 characters.
 */
const STEM_LENGTH_MAX = 189

/**
 * Returns the name of a normalized file, from the stem of its source's name and the extension of
 * the output.
 */
export function normalizedFileName(sourceName: string, outputName: string): string {
  const stem = getFileNameStem(sourceName, { lengthMax: STEM_LENGTH_MAX, fallback: "output" })
  return stem + getFileNameExtension(outputName)
}

/** Returns the file name that the `download_url` of a normalization ends with. */
export function normalizedDownloadName({ name }: { name: string }): string {
  return `output${getFileNameExtension(name)}`
}

/** Reports whether a name is the file name in the `download_url` of a normalized file. */
export function isNormalizedDownloadName(
  file: Pick<File, "name" | "outputKey" | "source">,
  name: string,
) {
  const { outputKey, source } = file
  return (
    source === "output" &&
    outputKey === NORMALIZED_OUTPUT_KEY &&
    name === normalizedDownloadName(file)
  )
}
