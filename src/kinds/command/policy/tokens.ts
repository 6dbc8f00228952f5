const SPACES = /[ \n\t\r]/

/**
 * Reads up to one of `ends` as `av_get_token` of ffmpeg does: a backslash takes the next character
 * as it is, single quotes take everything, white space around is dropped unless it is taken so.
 */
export function readToken(text: string, from: number, ends: string): { token: string; at: number } {
  const plain = plainRun(ends)
  let at = skipSpaces(text, from)
  let token = ""
  let kept = 0
  while (at < text.length && !ends.includes(text.charAt(at))) {
    plain.lastIndex = at
    const run = plain.exec(text)?.[0] ?? ""
    token += run
    at += run.length
    if (run !== "") continue
    const character = text.charAt(at)
    at += 1
    if (character === "\\" && at < text.length) {
      token += text.charAt(at)
      at += 1
      kept = token.length
    } else if (character === "'") {
      const close = text.indexOf("'", at)
      token += text.slice(at, close < 0 ? undefined : close)
      at = close < 0 ? text.length : close + 1
      if (close >= 0) kept = token.length
    } else {
      token += character
    }
  }
  return { token: withoutSpacesBehind(token, kept), at }
}

const runs = new Map<string, RegExp>()

/** Makes a pattern of the characters that stand for themselves, up to a quote, a backslash or one of `ends`. */
function plainRun(ends: string): RegExp {
  const known = runs.get(ends)
  if (known) return known
  const made = new RegExp(`[^'\\\\${ends.replace(/[\]^\\-]/g, "\\$&")}]*`, "y")
  runs.set(ends, made)
  return made
}

/** A text without the white space at its end, but never shorter than `kept`. */
function withoutSpacesBehind(text: string, kept: number): string {
  let end = text.length
  while (end > kept && SPACES.test(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/** The first place from `from` on that is no white space. */
export function skipSpaces(text: string, from: number): number {
  let at = from
  while (at < text.length && SPACES.test(text.charAt(at))) at += 1
  return at
}

/** A pair of a list like `a=1:b=2`; its name is null where only a value stands. */
export type Pair = { name: string | null; value: string }

const NAME = /([A-Za-z0-9_/.-]*)[ \n\t\r]*=/y

/** Reads `name=value` pairs between `separator`s, as ffmpeg reads options of filters. */
export function readPairs(text: string, separator: string): Pair[] {
  const pairs: Pair[] = []
  for (let at = 0; at < text.length; at += 1) {
    const begin = skipSpaces(text, at)
    NAME.lastIndex = begin
    const named = NAME.exec(text)
    const { token, at: end } = readToken(text, begin + (named?.[0].length ?? 0), separator)
    pairs.push({ name: named?.[1] ?? null, value: token })
    at = end
  }
  return pairs
}

/** Reads a dictionary like `a=1:b=2`, whose names may be quoted and escaped too. */
export function readDictionary(text: string, separator: string): Pair[] {
  const pairs: Pair[] = []
  for (let at = 0; at < text.length; at += 1) {
    const name = readToken(text, at, `=${separator}`)
    if (text.charAt(name.at) !== "=") {
      pairs.push({ name: null, value: name.token })
      at = name.at
      continue
    }
    const value = readToken(text, name.at + 1, separator)
    pairs.push({ name: name.token, value: value.token })
    at = value.at
  }
  return pairs
}
