import { GLOBAL_FLAGS, PRINTING_FLAGS } from "../../../contract/command-line.ts"
import type { ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { nearestName } from "../../../hints/nearest-name.ts"
import { kindOfOption } from "../policy/options.ts"
import { encoderOf } from "./codecs.ts"
import { findOption } from "./known.ts"
import type { Known, KnownOption } from "./known.ts"
import { isUnlisted } from "./own-options.ts"
import { usualOption } from "./usual-options.ts"

const ALONE = new Set(`${GLOBAL_FLAGS} ${PRINTING_FLAGS}`.split(" "))

/** Whether ffmpeg has an option of this name, its own or one of its libraries. */
export function isKnownOption(name: string, known: Known): boolean {
  const plain = name.replace(/^no/, "")
  if (known.names("options").has(name) || isUnlisted(name) || ALONE.has(name)) return true
  if (known.names("options").has(plain) || ALONE.has(plain)) return true
  if (kindOfOption(name) !== null) return true
  if (findGeneric(["codec", "codecs", "format", "formats", "sws", "swr"], name, known)) return true
  return /^[vas]/.test(name) && findGeneric(["codec"], name.slice(1), known) !== null
}

/** The option of this name of some of the tables that hold for all codecs or formats. */
export function findGeneric(
  tables: readonly string[],
  name: string,
  known: Known,
): KnownOption | null {
  for (const table of tables) {
    const found = findOption(known.find("generic", table)?.options ?? [], name)
    if (found) return found
  }
  return null
}

/** What to write instead of an option that there is not: a sentence without its word. */
export function describeUnknown(option: ReadOption, file: ReadFile, known: Known): string {
  const split = splitOption(option.word, known)
  if (split !== null) return `an option and its value are two words; write \`${split}\``
  if (!/^-+[a-z0-9]/i.test(option.word)) return "there is no such option; leave it out"
  const usual = usualOption(option, known)
  if (usual !== null) return `there is no such option; ${usual}`
  const meant = nearestOption(option.name, file, known)
  if (meant === null) return "there is no such option; leave it out, or write the one that you mean"
  return `there is no such option; did you mean \`-${meant}\`?`
}

/** `-crf 23` of `-crf=23` and `-crf23`; null where no option is followed by a value so. */
function splitOption(word: string, known: Known): string | null {
  const [, chooses = "", encoder = ""] = /^(-c(?:odec)?:[vas]):([a-z].*)$/i.exec(word) ?? []
  if (encoder !== "") return `${chooses} ${encoder}`
  const [, name = "", value = ""] =
    /^--?([a-z][\w:-]*)=(.+)$/is.exec(word) ??
    /^-(i|[a-z]+(?::[a-z])?)([\d{].*)$/is.exec(word) ??
    []
  const plain = name.split(":", 1)[0] ?? ""
  return name !== "" && isKnownOption(plain, known) ? `-${name} ${value}` : null
}

function nearestOption(name: string, file: ReadFile, known: Known): string | null {
  const plain = name.replace(/^-/, "")
  if (plain !== name && isKnownOption(plain, known)) return plain
  const generic = ["codec", "format", "codecs", "formats"].flatMap(
    (table) => known.find("generic", table)?.options.flatMap(({ names }) => names) ?? [],
  )
  const likely = (["V", "A", "S"] as const).flatMap((medium) => {
    const encoder = known.find("encoders", encoderOf(file, medium, known) ?? "")
    return encoder?.options.flatMap(({ names }) => names) ?? []
  })
  const own = [...known.names("options"), "s", "i", ...likely]
  return nearestName(plain, own) ?? nearestName(plain, generic)
}
