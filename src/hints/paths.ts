import { isId } from "../ids.ts"
import { aliases } from "./hint-table.ts"
import { nearestName } from "./nearest-name.ts"

const VERSION = "v1"

/** Paths of other interfaces by their first word, and the ones that do the same here. */
const OTHER_PATHS = aliases([
  ["upload uploads assets media videos import imports probe", "/files"],
  ["convert", "/commands"],
  ["encode render renditions", "/transcode"],
  ["download downloads yt-dlp youtube", "/fetch"],
  ["loudnorm", "/normalize"],
  ["captions subtitles whisper", "/transcribe"],
  ["tasks", "/jobs"],
  ["me user users usage limits quota plan", "/account"],
  ["ping status ready", "/health"],
  ["tokens api-keys", "/keys"],
  ["webhook webhooks deliveries", "/webhooks/deliveries"],
  ["swagger.json openapi.yaml spec", "/openapi.json"],
])
/** Words that begin alike in so many letters are forms of one word: `normalize`, `normalizations`. */
const STEM_LENGTH = 5

/**
 * The path of the interface that an unknown one was most likely to be, with its ids; null where none is
 * near. `templates` are below /v1, as `/files/{id}`.
 */
export function nearPath(path: string, templates: readonly string[]): string | null {
  const words = wordsOf(path)
  if (words.length === 0) return null
  const other = otherPath(words, templates)
  if (other !== null) return `/${VERSION}${other}`
  let best: { cost: number; path: string } | null = null
  for (const template of templates) {
    const wanted = template.split("/").filter((word) => word !== "")
    const cost = costOf(words, wanted)
    if (cost === null || (best && best.cost <= cost)) continue
    const filled = wanted.map((word, at) => (word.startsWith("{") ? words[at] : word))
    best = { cost, path: `/${[VERSION, ...filled].join("/")}` }
  }
  return best === null || best.path === path ? null : best.path
}

/** The words of a path below its version, without what is around an id. */
function wordsOf(path: string): string[] {
  const words = path
    .replace(/\bsvc_id:\/*/i, "")
    .split("/")
    .filter((word) => word !== "")
  while (/^(?:api|v\d+)$/i.test(words[0] ?? "")) words.shift()
  return words
}

/** The path for one of another interface, or for a part of a record; null where there is none such. */
function otherPath(words: readonly string[], templates: readonly string[]): string | null {
  const [room = "", id = "", part = ""] = words.map((word) => word.toLowerCase())
  const other = OTHER_PATHS.get(room)
  if (other !== undefined && words.length === 1) return other
  const path = other ?? `/${room}`
  const member = templates.includes(`${path}/{id}`) ? `${path}/${id}` : null
  if (other !== undefined) return words.length === 2 && isId(id) ? member : null
  if (words.length !== 3 || member === null) return null
  if (/^logs?$/.test(part)) return `/jobs/${id}/log`
  return /^(?:status|state|result|results|info|details)$/.test(part) ? member : null
}

/** How many words of a path are others than those of a template; null where one is nowhere near. */
function costOf(words: readonly string[], template: readonly string[]): number | null {
  if (words.length !== template.length) return null
  let cost = 0
  for (const [at, wanted] of template.entries()) {
    const word = words[at] ?? ""
    if (word === wanted || wanted.startsWith("{")) continue
    if (!isNear(word, wanted)) {
      // Actions on a job of any kind are below /jobs.
      const isDone = at === 0 && wanted === "jobs" && words.length > 2
      if (!isDone || words.at(-1) !== template.at(-1)) return null
      cost += 1
    }
    cost += 1
  }
  return cost
}

function isNear(word: string, wanted: string): boolean {
  const stem = wanted.slice(0, Math.max(STEM_LENGTH, wanted.length - 2)).toLowerCase()
  const isForm = wanted.length >= STEM_LENGTH && word.toLowerCase().startsWith(stem)
  return isForm || nearestName(word, [wanted]) !== null
}
