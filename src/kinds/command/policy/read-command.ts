import { takesNothing } from "./options.ts"

/** An option as it stands in a command: its word, its name, and its value if it takes one. */
export type ReadOption = { word: string; name: string; value: string | null }

/** A file of a command, with the options that stand before it. */
export type ReadFile = {
  kind: "input" | "output" | "decoder"
  word: string
  options: ReadOption[]
}

/** A command as ffmpeg splits it: files in order, what follows the last, what lacks a value. */
export type ReadCommand = { files: ReadFile[]; trailing: ReadOption[]; lacking: string | null }

const FILE_OF = new Map<string, ReadFile["kind"]>([
  ["-i", "input"],
  ["-dec", "decoder"],
])

/** Splits words, without the program, into files and their options. */
export function readCommand(words: readonly string[]): ReadCommand {
  const files: ReadFile[] = []
  let options: ReadOption[] = []
  // After a lone "--" the next word is a file, whatever it looks like.
  let isPlain = false
  function finish(kind: ReadFile["kind"], word: string) {
    files.push({ kind, word, options })
    options = []
  }
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ""
    if (word === "--") {
      isPlain = true
      continue
    }
    if (isPlain || !word.startsWith("-") || word === "-") {
      isPlain = false
      finish("output", word)
      continue
    }
    const name = nameOf(word)
    if (takesNothing(name)) {
      options.push({ word, name, value: null })
      continue
    }
    at += 1
    const value = words[at]
    if (value === undefined) return { files, trailing: options, lacking: word }
    const kind = FILE_OF.get(word)
    if (kind === undefined) options.push({ word, name, value })
    else finish(kind, value)
  }
  return { files, trailing: options, lacking: null }
}

/** The name of an option without what says for which streams: `filter` of `-filter:v:0`. */
function nameOf(word: string): string {
  return word.slice(1).split(":", 1)[0] ?? ""
}
