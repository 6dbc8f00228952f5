/** A command line split into words, or a sentence that says why it cannot be. */
export type Split = { words: string[] } | { error: string }

/** The name that a key has in the workspace, looked up by key; a Map of strings is one. */
export type Names = { get(key: string): string | undefined }

const PLACEHOLDER = /\\?\{\\?\{([^{}\\]{1,80})\\?\}\\?\}/g
const OPTION_VALUE = /(?<==)('?)([A-Za-z0-9_]+)\1(?=$|[:,;[\]])/g
const FILTER_OPTION = /^-(?:vf|af|lavfi|filter_complex|filter(?::.*)?)$/

/**
 * Splits a line as a POSIX shell would: single and double quotes, backslash, backslash-newline.
 * Nothing is expanded: `$`, `~` and globs are plain characters.
 */
export function splitWords(line: string): Split {
  if (line.includes("\0")) return { error: "it holds a NUL character" }
  const words: string[] = []
  let word: string | null = null
  let quote: "'" | '"' | null = null
  const source = line.replaceAll("\\\r\n", "\\\n").replace(/\{\{\s*([^{}\s]+)\s*\}\}/g, "{{$1}}")
  for (let at = 0; at < source.length; at += 1) {
    const character = source.charAt(at)
    const next = source.charAt(at + 1)
    if (quote === "'") {
      if (character === "'") quote = null
      else word += character
    } else if (character === "\\" && next === "") {
      return { error: "it ends with a lone backslash" }
    } else if (character === "\\" && (quote === null || '$`"\\\n'.includes(next))) {
      if (next !== "\n") word = (word ?? "") + next
      at += 1
    } else if (character === quote) {
      quote = null
    } else if (quote === null && (character === "'" || character === '"')) {
      quote = character
      word ??= ""
    } else if (quote === null && /\s/.test(character)) {
      if (word !== null) words.push(word)
      word = null
    } else {
      word = (word ?? "") + character
    }
  }
  if (quote !== null) return { error: `a ${quote} is opened and never closed` }
  if (word !== null) words.push(word)
  return { words }
}

/**
 * Puts names in the place of keys: `{{key}}` and `\{\{key\}\}` anywhere, a bare key where it is a
 * whole word or a whole option value of a filter argument. A placeholder without a name stays.
 */
export function substitute(words: readonly string[], names: Names): string[] {
  return words.map((word, index) => {
    const bare = names.get(word)
    if (bare !== undefined) return bare
    const value = isFilterArgument(words, index)
      ? word.replace(OPTION_VALUE, (whole, quote: string, key: string) => {
          const name = names.get(key)
          return name === undefined ? whole : quote + name + quote
        })
      : word
    return value.replace(PLACEHOLDER, (whole, key: string) => names.get(key) ?? whole)
  })
}

/** The keys that a command names, among those declared and among those that nobody declared. */
export function namedKeys(words: readonly string[], declared: ReadonlySet<string>) {
  const known = new Set<string>()
  const unknown = new Set<string>()
  substitute(words, {
    get(key) {
      if (declared.has(key)) known.add(key)
      return undefined
    },
  })
  for (const word of words) {
    for (const [, key = ""] of word.matchAll(PLACEHOLDER)) if (!declared.has(key)) unknown.add(key)
  }
  for (const word of mediaWords(words)) {
    if (/^(?:in|out)_[A-Za-z0-9_]+$/.test(word) && !declared.has(word)) unknown.add(word)
  }
  return { known, unknown }
}

/** Words that can only be a file: what follows `-i`, and the last one. */
function mediaWords(words: readonly string[]): string[] {
  return words.filter((_, index) => words[index - 1] === "-i" || index === words.length - 1)
}

function isFilterArgument(words: readonly string[], index: number): boolean {
  const option = words[index - 1]
  if (option === undefined) return false
  if (FILTER_OPTION.test(option)) return true
  if (option !== "-i") return false
  const format = words.lastIndexOf("-f", index)
  return (
    format >= 0 && words[format + 1] === "lavfi" && !words.slice(format, index - 1).includes("-i")
  )
}
