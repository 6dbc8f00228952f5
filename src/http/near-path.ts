import { nearestName } from "../suggest.ts"

const VERSION = "v1"
/** Words that begin alike in so many letters are forms of one word: `normalize`, `normalizations`. */
const STEM_LENGTH = 5

/**
 * The path of the interface that an unknown one was most likely to be, with its ids; null where none is
 * near. `templates` are below /v1, as `/files/{id}`.
 */
export function nearPath(path: string, templates: readonly string[]): string | null {
  const words = path.split("/").filter((word) => word !== "")
  if (words[0] === VERSION) words.shift()
  if (words.length === 0) return null
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
