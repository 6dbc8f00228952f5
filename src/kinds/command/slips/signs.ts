import { readCommand } from "../../../contract/command-line.ts"
import type { Refusal } from "../policy/refusal.ts"
import { shown } from "./written.ts"
import type { Written } from "./written.ts"

const DASH = /^[\u2010-\u2015\u2212]+/
const EDITED_QUOTE = /[\u2018-\u201f\u00ab\u00bb]/
const BLANK = /[\u00a0\u2000-\u200b\u202f\u3000\ufeff]/

/** Signs that look as if they were others, as text editors and web pages make them. */
export function explainSigns({ words }: Written): Refusal[] {
  const files = new Set(readCommand(words).files.map(({ word }) => word))
  const dashed = words.find((word) => files.has(word) && DASH.test(word))
  if (dashed !== undefined) {
    const option = dashed.replace(DASH, "-")
    const message = `${shown(dashed)}: this begins with a dash that is no minus sign; write ${shown(option)}`
    return [{ code: "name_not_allowed", message }]
  }
  const quoted = words.find((word) => files.has(word) && EDITED_QUOTE.test(word))
  if (quoted !== undefined) {
    const message = `${shown(quoted)}: these quotes are letters here, as a text editor makes them; quote with ' or "`
    return [{ code: "name_not_allowed", message }]
  }
  if (words[0] === "ffmpeg") {
    const message = "`ffmpeg` stands twice at the beginning; leave one out"
    return [{ code: "name_not_allowed", message }]
  }
  if (words.some((word) => files.has(word) && /^\s*$/.test(word))) {
    const message =
      "there is a backslash with a space behind it, and so a word of nothing but space; let the line end right behind the backslash, or leave it out"
    return [{ code: "name_not_allowed", message }]
  }
  const blank = words.find((word) => files.has(word) && BLANK.test(word))
  if (blank === undefined) return []
  const message = `${shown(blank)}: this holds a space of another kind, as a web page makes it; write a plain one`
  return [{ code: "name_not_allowed", message }]
}
