import { isWritten, readCommand } from "../../contract/command-line.ts"
import { PLACEHOLDER, substitute } from "../../contract/tasks/command.ts"
import { didYouMean } from "../../hints/nearest-name.ts"
import type { CommandFault } from "./fault-codes.ts"
import { REFUSALS_MAX } from "./policy/refusal.ts"
import type { Script } from "./script.ts"

/** What is wrong with the keys that commands name: unknown ones, and outputs that none names. */
export function judgeKeys(
  lines: readonly { field: string; words: string[] }[],
  { inputKeys, outputs, terms }: Script,
): CommandFault[] {
  const declared = new Set([...inputKeys, ...outputs.map(({ key }) => key)])
  const named = new Set<string>()
  const unknown = lines.flatMap(({ field, words }) => {
    const keys = namedKeys(words, declared)
    for (const key of keys.known) named.add(key)
    return [...keys.unknown].map((key) => ({ field, key }))
  })
  const faults = unknown.slice(0, REFUSALS_MAX).map(({ field, key }) => ({
    field,
    code: "unknown_key" as const,
    message: `"${key}" ${terms.isUnknown}${slipOf(key, declared, outputs)}`,
  }))
  // What is written by a key that there is not was to be one that there is.
  if (faults.length > 0) return faults
  return outputs.flatMap(({ key, field }): CommandFault[] => {
    if (named.has(key)) return findAltered(key, lines)
    return [{ field, code: "unused_output", message: describeUnnamed(key, lines) }]
  })
}

function describeUnnamed(key: string, lines: readonly { words: string[] }[]): string {
  const { files } = readCommand(lines.at(-1)?.words ?? [])
  const last = files.at(-1)
  const instead = last?.kind === "output" && /^[\w .%-]+\.\w+$/.test(last.word) ? last.word : null
  if (instead !== null)
    return `no command names this output; write \`{{${key}}}\` instead of \`${instead}\``
  const leave = files.some(isWritten)
    ? ""
    : ", or leave it out, since the last command keeps no file"
  return `no command names this output; write {{${key}}} where its file goes${leave}`
}

/** What is written instead of an output, where its key only stands with an extension of its own. */
function findAltered(
  key: string,
  lines: readonly { field: string; words: string[] }[],
): CommandFault[] {
  const naming = lines.flatMap(({ field, words }) => {
    return words.flatMap((word) => {
      return word === key || word.includes(`{{${key}}}`) ? [{ field, word }] : []
    })
  })
  const [first] = naming
  if (!first || !naming.every(({ word }) => /^\{\{\w+\}\}\.\w+$/.test(word))) return []
  const message = `\`${first.word}\` writes a file that is no output; write \`{{${key}}}\` alone, since the extension is a part of its name`
  return [{ field: first.field, code: "unused_output", message }]
}

/** The key that was meant, where one is near; of another number it is another key. */
function slipOf(key: string, declared: ReadonlySet<string>, outputs: Script["outputs"]): string {
  const named = outputs.find(({ name }) => name === key)
  if (named) return `; did you mean \`{{${named.key}}}\`?`
  const side = /^(?:in|out)/i.exec(key)?.[0].toLowerCase()
  const ofSide = [...declared].filter((each) => side !== undefined && each.startsWith(`${side}_`))
  const isPlain = /^(?:in|out)(?:put)?(?:_?(?:file|video|audio|1))?$/i.test(key)
  if (isPlain && ofSide.length === 1) return `; did you mean \`{{${ofSide[0] ?? ""}}}\`?`
  const digits = key.replace(/\D/g, "")
  const alike = [...declared].filter((each) => each.replace(/\D/g, "") === digits)
  return didYouMean(key, alike, (name) => `\`{{${name}}}\``)
}

/** The keys that a command names: those that the request declares, and those that it does not. */
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
