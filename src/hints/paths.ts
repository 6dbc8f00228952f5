import { isId } from "../platform/ids.ts"
import { buildAliasMap } from "./hint-table.ts"
import { findNearestName } from "./nearest-name.ts"

const VERSION = "v1"

/** First path segments in other APIs, with the equivalent path of this API. */
const OTHER_PATHS = buildAliasMap([
  ["upload assets media videos import imports probe", "/files"],
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
/** Number of first letters that related words share: `normalize`, `normalizations`. */
const STEM_LENGTH = 5

/**
 * Returns the API path that an unknown path most likely means, with the ids from the unknown path.
 * Returns null if no path is similar. `templates` are path templates below /v1, such as
 * `/files/{id}`.
 */
export function findNearestPath(path: string, templates: readonly string[]): string | null {
  const words = wordsOf(path)
  if (words.length === 0) return null
  const other = otherPath(words, templates)
  if (other !== null) return `/${VERSION}${other}`
  let best: { cost: number; path: string } | null = null
  for (const template of templates) {
    const templateWords = template.split("/").filter((word) => word !== "")
    const cost = costOf(words, templateWords)
    if (cost === null || (best && best.cost <= cost)) continue
    const pathWords = templateWords.map((word, at) => (word.startsWith("{") ? words[at] : word))
    best = { cost, path: `/${[VERSION, ...pathWords].join("/")}` }
  }
  return best === null || best.path === path ? null : best.path
}

/** Splits a path into segments, without the version and without the `svc_id:` scheme of ids. */
function wordsOf(path: string): string[] {
  const words = path
    .replace(/\bsvc_id:\/*/i, "")
    .split("/")
    .filter((word) => word !== "")
  while (/^(?:api|v\d+)$/i.test(words[0] ?? "")) words.shift()
  return words
}

/**
 * Returns the path of this API that replaces a path of another API. Also replaces a path to a part
 * of a record, such as `/jobs/{id}/status`, by the record's path. Returns null for other paths.
 */
function otherPath(words: readonly string[], templates: readonly string[]): string | null {
  const [resource = "", id = "", part = ""] = words.map((word) => word.toLowerCase())
  const other = OTHER_PATHS.get(resource)
  if (other !== undefined && words.length === 1) return other
  const path = other ?? `/${resource}`
  const member = templates.includes(`${path}/{id}`) ? `${path}/${id}` : null
  if (other !== undefined) return words.length === 2 && isId(id) ? member : null
  if (words.length !== 3 || member === null) return null
  if (/^logs?$/.test(part)) return `/jobs/${id}/log`
  return /^(?:status|state|result|results|info|details)$/.test(part) ? member : null
}

/** Counts the segments of a path that differ from a template; null if a segment is not similar. */
function costOf(words: readonly string[], template: readonly string[]): number | null {
  if (words.length !== template.length) return null
  let cost = 0
  for (const [at, templateWord] of template.entries()) {
    const word = words[at] ?? ""
    if (word === templateWord || templateWord.startsWith("{")) continue
    if (!isNear(word, templateWord)) {
      // Actions on a job, such as `/jobs/{id}/retry`, have paths below /jobs, even if the caller
      // wrote the path of the job's kind, such as /commands.
      const isJobAction = at === 0 && templateWord === "jobs" && words.length > 2
      if (!isJobAction || words.at(-1) !== template.at(-1)) return null
      cost += 1
    }
    cost += 1
  }
  return cost
}

function isNear(word: string, templateWord: string): boolean {
  const stem = templateWord.slice(0, Math.max(STEM_LENGTH, templateWord.length - 2)).toLowerCase()
  const isForm = templateWord.length >= STEM_LENGTH && word.toLowerCase().startsWith(stem)
  return isForm || findNearestName(word, [templateWord]) !== null
}
