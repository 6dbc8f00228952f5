import { readCommand } from "../../../contract/command-line.ts"
import type { Refusal } from "../policy/refusal.ts"
import { keyOf, placed, shown } from "./written.ts"
import type { Written } from "./written.ts"

/** Words that end a command for a shell, or that send what it prints elsewhere. */
const OPERATOR = /^(?:&&?|\|\|?|;|\d?>>?.*|&>.*|<.*|\d>&\d|#.*|\^|`)$/s
/** Another program's output, in a place where a shell would put it. */
const SUBSTITUTION = /^["']?(?:\$\(|`.)/
const BATCH_VARIABLE = /^%~[a-z]*\d|^%\d(?!\d*[dv])|^%%~?[a-z]+$/i

/** What only a shell reads: all that stands behind it follows from that. */
export function explainShellWords(written: Written): Refusal[] {
  const { words } = written
  const substituted = words.findIndex((word) => SUBSTITUTION.test(word))
  if (substituted >= 0) {
    const word = words.slice(substituted, endOfSubstitution(words, substituted)).join(" ")
    const message = `${shown(word)}: no shell reads this, so that nothing stands there instead; write the value itself`
    return [{ code: "value_not_allowed", message }]
  }
  const variable = words.find((word) => BATCH_VARIABLE.test(word))
  if (variable !== undefined) {
    const message = `${shown(variable)}: no shell reads this variable; write ${placed(written.inputKeys, "in_1")} for an input and ${placed(written.outputKeys, "out_1")} for an output`
    return [{ code: "value_not_allowed", message }]
  }
  const files = new Set(readCommand(words).files.map(({ word }) => word))
  const place = words.findIndex((word) => files.has(word) && (OPERATOR.test(word) || isCut(word)))
  return place < 0 ? [] : [{ code: "name_not_allowed", message: describe(place, written) }]
}

/** Whether a semicolon ends a word that is a file. */
function isCut(word: string): boolean {
  return /[^;\s];$/.test(word)
}

function endOfSubstitution(words: readonly string[], from: number): number {
  const first = words[from] ?? ""
  const last = first.includes("$(") ? /\)/ : /.`["']?$/
  const end = words.findIndex((word, index) => index >= from && last.test(word))
  return end < 0 ? from + 1 : end + 1
}

function describe(place: number, written: Written): string {
  const { words, terms, outputKeys } = written
  const word = words[place] ?? ""
  const rest = words.slice(place).join(" ")
  const program = words[place + 1]
  if (program === "ffmpeg" && /^(?:&&?|\|\|?|;|#.*)$|;$/.test(word)) {
    return `${shown(word)}: no shell reads this; ${terms.giveSeveral}`
  }
  if (outputKeys.includes(keyOf(words.at(-1) ?? "")) && place === words.length - 2) {
    const mark = isCut(word) ? ";" : word
    return `${shown(mark)}: no shell reads this; leave it out before ${shown(words.at(-1) ?? "")}`
  }
  if (isCut(word)) return `${shown(rest)}: no shell reads this; leave out all from the \`;\` on`
  if (word === "|") {
    return `${shown(rest)}: no shell reads this, and no other program runs; leave it out, and end the command with ${placed(outputKeys, "out_1")}`
  }
  if (/^\d?>|^&>/.test(word)) return describeRedirect(place, written)
  if (word.startsWith("#")) return `${shown(rest)}: a command has no comments; leave it out`
  if (word === "^" || word === "`") {
    return `${shown(word)}: no shell reads this; leave it out, since a new line needs no mark here`
  }
  if (word === "&" && program === undefined) {
    return "`&`: no shell reads this; leave it out, since a job runs on its own"
  }
  if (word.startsWith("<") && /^<\w+>$/.test(word)) {
    return `${shown(word)}: no angle brackets are read here; write a key in two braces, as ${placed([keyNear(word, written)], "in_1")}`
  }
  return `${shown(rest)}: no shell reads this; leave it out, since only ffmpeg runs here`
}

function describeRedirect(place: number, { words, outputKeys }: Written): string {
  const isMedia = /^(?:-|pipe:1?)$/.test(words[place - 1] ?? "")
  const from = isMedia ? place - 1 : place
  const what = shown(words.slice(from).join(" "))
  return isMedia
    ? `${what}: no shell reads this; write ${placed(outputKeys, "out_1")} instead`
    : `${what}: no shell reads this; leave it out, since what ffmpeg prints is kept with the job`
}

function keyNear(word: string, { inputKeys, outputKeys }: Written): string {
  const name = keyOf(word.slice(1, -1))
  const first = /out/i.test(name) ? (outputKeys[0] ?? "out_1") : (inputKeys[0] ?? "in_1")
  return [...inputKeys, ...outputKeys].includes(name) ? name : first
}
