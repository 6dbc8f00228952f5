import { cutText } from "../cut-text.ts"
import { EXAMPLE_ID } from "../ids.ts"
import { describeCutId } from "../kinds/address-slips.ts"
import { Problem } from "./problem.ts"

const SHOWN_LENGTH_MAX = 80
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
/** What programs write in the place of an id that they do not have, and documents in that of any. */
const PLACEHOLDER = /^(?:undefined|null|none|nan|id|uuid|\[object \w+\]|[{<:$%].*)$/i

/** The 404 of a word in a path that can be no id of what `title` names. */
export function noId(title: string, word: string): Problem {
  return new Problem("not_found", `There is no such ${title}; ${describeWord(title, word)}.`)
}

function describeWord(title: string, word: string): string {
  const short = cutText(word, SHOWN_LENGTH_MAX)
  const id = UUID.exec(word)?.[0].toLowerCase()
  if (id !== undefined) return `write the id alone: \`${id}\``
  if (PLACEHOLDER.test(word)) {
    return `\`${short}\` stands where the id of the ${title} is to be, as in \`${EXAMPLE_ID}\``
  }
  const digits = /^[0-9a-f]{32}$/i.test(word)
  if (digits) return "an id is written with its four dashes"
  return describeCutId(word, `\`${short}\``) ?? `\`${short}\` is no id: one is as \`${EXAMPLE_ID}\``
}
