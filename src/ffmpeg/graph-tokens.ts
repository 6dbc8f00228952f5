const SPACES = /[ \n\t\r]/

/** Unescaped token of a filter graph, and the index in the text after the token. */
type Token = { token: string; at: number }

/**
 * Reads a token up to one of the characters in `ends`, like ffmpeg's function `av_get_token`. A
 * backslash escapes the next character, single quotes escape all characters between them, and
 * unescaped white space around the token is dropped.
 */
export function readGraphToken(text: string, from: number, ends: string): Token {
  return scanToken(text, from, ends, null)
}

/** Returns the index in `text` of each character of the token that begins at the index `from`. */
export function readTokenIndexes(text: string, from: number, ends: string): number[] {
  const indexes: number[] = []
  const { token } = scanToken(text, from, ends, indexes)
  return indexes.slice(0, token.length)
}

/**
 * Reads a token of a filter graph. If `indexes` is a list, adds the index in `text` of each
 * character of the token, and of trailing white space that the token omits.
 */
function scanToken(text: string, from: number, ends: string, indexes: number[] | null): Token {
  const plain = buildPlainRunPattern(ends)
  let at = skipSpaces(text, from)
  let token = ""
  let literalEnd = 0
  function take(to: number): void {
    token += text.slice(at, to)
    if (indexes) for (let index = at; index < to; index += 1) indexes.push(index)
    at = to
  }
  while (at < text.length && !ends.includes(text.charAt(at))) {
    plain.lastIndex = at
    const run = plain.exec(text)?.[0] ?? ""
    if (run !== "") {
      take(at + run.length)
      continue
    }
    const character = text.charAt(at)
    if (character === "\\" && at + 1 < text.length) {
      at += 1
      take(at + 1)
      literalEnd = token.length
    } else if (character === "'") {
      at += 1
      const close = text.indexOf("'", at)
      take(close < 0 ? text.length : close)
      if (close < 0) break
      at += 1
      literalEnd = token.length
    } else {
      take(at + 1)
    }
  }
  return { token: trimTrailingSpaces(token, literalEnd), at }
}

const runs = new Map<string, RegExp>()

/**
 * Returns a pattern that matches characters without a special meaning: all except quotes,
 * backslashes and the characters in `ends`.
 */
function buildPlainRunPattern(ends: string): RegExp {
  const cached = runs.get(ends)
  if (cached) return cached
  const pattern = new RegExp(`[^'\\\\${ends.replace(/[\]^\\-]/g, "\\$&")}]*`, "y")
  runs.set(ends, pattern)
  return pattern
}

/** Removes white space at the end of a text, but keeps the first `literalEnd` characters. */
function trimTrailingSpaces(text: string, literalEnd: number): string {
  let end = text.length
  while (end > literalEnd && SPACES.test(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/** Returns the first index at or after `from` at which the text has no white space. */
export function skipSpaces(text: string, from: number): number {
  let at = from
  while (at < text.length && SPACES.test(text.charAt(at))) at += 1
  return at
}

/** Option in a list such as `a=1:b=2`. The name is null for a positional value. */
export type OptionPair = { name: string | null; value: string }

/** Option in a list, with the index in the text at which the option's value begins. */
export type PositionedOption = OptionPair & { from: number }

const NAME = /([A-Za-z0-9_/.-]*)[ \n\t\r]*=/y

/**
 * Parses `name=value` pairs between separators, in the same way as ffmpeg parses the options of
 * filters.
 */
export function parseOptionPairs(text: string, separator: string): PositionedOption[] {
  const pairs: PositionedOption[] = []
  for (let at = 0; at < text.length; at += 1) {
    const begin = skipSpaces(text, at)
    NAME.lastIndex = begin
    const nameMatch = NAME.exec(text)
    const from = begin + (nameMatch?.[0].length ?? 0)
    const value = readGraphToken(text, from, separator)
    pairs.push({ name: nameMatch?.[1] ?? null, value: value.token, from })
    at = value.at
  }
  return pairs
}

/**
 * Parses a dictionary of ffmpeg such as `a=1:b=2`, in which names may also be quoted or escaped.
 */
export function parseFfmpegDictionary(text: string, separator: string): OptionPair[] {
  const pairs: OptionPair[] = []
  for (let at = 0; at < text.length; at += 1) {
    const name = readGraphToken(text, at, `=${separator}`)
    if (text.charAt(name.at) !== "=") {
      pairs.push({ name: null, value: name.token })
      at = name.at
      continue
    }
    const value = readGraphToken(text, name.at + 1, separator)
    pairs.push({ name: name.token, value: value.token })
    at = value.at
  }
  return pairs
}
