import { isId } from "../ids.ts"
import { nearestName } from "../suggest.ts"

const VERSION = "v1"

/** What paths are called in other interfaces, and here. */
const OTHER_PATHS: Record<string, string> = {
  upload: "/files",
  uploads: "/files",
  assets: "/files",
  media: "/files",
  videos: "/files",
  import: "/files",
  imports: "/files",
  probe: "/files",
  convert: "/commands",
  encode: "/transcode",
  render: "/transcode",
  renditions: "/transcode",
  download: "/fetch",
  downloads: "/fetch",
  "yt-dlp": "/fetch",
  youtube: "/fetch",
  loudnorm: "/normalize",
  captions: "/transcribe",
  subtitles: "/transcribe",
  whisper: "/transcribe",
  tasks: "/jobs",
  me: "/account",
  user: "/account",
  users: "/account",
  usage: "/account",
  limits: "/account",
  quota: "/account",
  plan: "/account",
  ping: "/health",
  status: "/health",
  ready: "/health",
  tokens: "/keys",
  "api-keys": "/keys",
  webhook: "/webhooks/deliveries",
  webhooks: "/webhooks/deliveries",
  deliveries: "/webhooks/deliveries",
  "swagger.json": "/openapi.json",
  "openapi.yaml": "/openapi.json",
  spec: "/openapi.json",
}
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

/** The path that another interface calls something else; null where none does. */
function otherPath(words: readonly string[], templates: readonly string[]): string | null {
  const [room = "", id] = words.map((word) => word.toLowerCase())
  const other = Object.hasOwn(OTHER_PATHS, room) ? OTHER_PATHS[room] : undefined
  if (other === undefined) {
    const isRecord =
      words.length === 3 && /^(?:status|state|result|results|info|details)$/i.test(words[2] ?? "")
    if (
      words.length === 3 &&
      /^logs?$/i.test(words[2] ?? "") &&
      templates.includes(`/${room}/{id}`)
    ) {
      return `/jobs/${id}/log`
    }
    return isRecord && templates.includes(`/${room}/{id}`) ? `/${room}/${id}` : null
  }
  if (words.length === 1) return other
  const isMember = id !== undefined && words.length === 2 && isId(id)
  return isMember && templates.includes(`${other}/{id}`) ? `${other}/${id}` : null
}

/** How many words of a path are others than those of a template; null where one is nowhere near. */
function costOf(words: readonly string[], template: readonly string[]): number | null {
  if (words.length !== template.length) return null
  let cost = 0
  for (const [at, wanted] of template.entries()) {
    const word = words[at] ?? ""
    if (word === wanted || wanted.startsWith("{")) continue
    if (!isNear(word, wanted)) {
      // What is done with a job stands below /jobs, whatever its kind.
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
